import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withRepository } from '../../test/git-repository.ts';

interface Report {
  readonly violations: readonly { rule: string; message: string; path?: string; line?: number }[];
}

const TOKEN = ['ghp', 'Zq3vB8nXk2LwYt7RmPd5HsJc9GfEa1Uo4iKz'].join('_');
const validators = (...rules: readonly string[]) =>
  `version: 1\nvalidators: [${rules.map((rule) => `{rule: ${rule}}`).join(', ')}]\n`;
const shown = ({ violations }: Report) =>
  violations.map(({ rule, path, line }) => `${rule} ${path ?? '-'}:${line ?? 0}`);

describe('what rules on request look at [S0-57]', () => {
  test('the work tree: files as they are on disk, staged or not, known to git or not, ignored ones left out', async () => {
    const registry = validators('code.todo.blockers', 'secrets.scan');
    const files = { 'old.txt': 'TODO from before\n', 'a.txt': 'x\n', '.gitignore': 'ignored.txt\n' };
    await withRepository({ registry, files }, async (repository, runtime) => {
      assert.deepEqual(shown(await runtime.call<Report>('validate')), []);
      repository.write({ 'a.txt': 'x\nTODO\n', 'new.txt': `FIXME\n${TOKEN}\n`, 'ignored.txt': `${TOKEN}\n` });
      const expected = ['code.todo.blockers a.txt:2', 'code.todo.blockers new.txt:1', 'secrets.scan new.txt:2'];
      assert.deepEqual(shown(await runtime.call<Report>('validate')), expected);
      repository.git('add', '--all');
      assert.deepEqual(shown(await runtime.call<Report>('validate')), expected);
      assert.deepEqual(shown(await runtime.call<Report>('validate', { scope: 'staged' })), expected);
      repository.write({ 'a.txt': 'x\n', 'new.txt': 'fine\n' });
      assert.deepEqual(shown(await runtime.call<Report>('validate')), []);
      assert.deepEqual(shown(await runtime.call<Report>('validate', { scope: 'staged' })), expected);
    });
  });

  test('the work tree before the first commit, where every line is added', async () => {
    await withRepository({ registry: validators('code.todo.blockers') }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'TODO\n' });
      assert.deepEqual(shown(await runtime.call<Report>('validate')), ['code.todo.blockers a.txt:1']);
    });
  });

  test('the work tree: the same content on top of another commit is judged anew', async () => {
    const registry = validators('code.todo.blockers');
    await withRepository({ registry, files: { 'a.txt': 'x\n' } }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'TODO\ny\n' });
      assert.deepEqual(shown(await runtime.call<Report>('validate')), ['code.todo.blockers a.txt:1']);
      repository.commit({ 'a.txt': 'TODO\n' });
      repository.write({ 'a.txt': 'TODO\ny\n' });
      assert.deepEqual(shown(await runtime.call<Report>('validate')), []);
    });
  });

  test('a range: from a revision to HEAD, whatever stands in the work tree', async () => {
    const registry = validators('code.todo.blockers');
    await withRepository({ registry, files: { 'a.txt': 'TODO old\n' } }, async (repository, runtime) => {
      repository.commit({ 'b.txt': 'TODO\n' });
      repository.commit({ 'c.txt': 'FIXME\n' });
      repository.write({ 'd.txt': 'TODO\n' });
      const range = async (since: string) => shown(await runtime.call<Report>('validate', { scope: 'range', since }));
      assert.deepEqual(await range('HEAD~1'), ['code.todo.blockers c.txt:1']);
      assert.deepEqual(await range('HEAD~2'), ['code.todo.blockers b.txt:1', 'code.todo.blockers c.txt:1']);
      assert.equal((await runtime.refused('validate', { scope: 'range', since: 'nowhere' })).code, 'E_GIT');
    });
  });

  test('a command that changes files of the work tree it judges is found out, in every scope [S0-64] (deep)', async () => {
    const registry = `${validators('fmt.must.pass')}commands: {fmt: sh fmt.sh}\n`;
    const files = { 'fmt.sh': 'true\n', 'a.txt': 'x\n' };
    for (const scope of ['worktree', 'staged']) {
      await withRepository({ registry, files }, async (repository, runtime) => {
        const messages = async () =>
          (await runtime.call<Report>('validate', { scope })).violations.map(({ message }) => message);
        repository.write({ 'a.txt': 'edited\n' });
        if (scope === 'staged') repository.git('add', '--all');
        assert.deepEqual(await messages(), []);
        repository.write({ 'fmt.sh': 'echo formatted > a.txt\n' });
        if (scope === 'staged') repository.git('add', '--all');
        assert.deepEqual(await messages(), ['Format changed files: a.txt']);
      });
    }
  });
});
