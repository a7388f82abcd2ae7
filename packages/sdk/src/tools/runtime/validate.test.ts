import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createRepository, openGitRuntime, withRepository } from '../../../test/git-repository.ts';
import { defineRule } from '../../contracts/rule.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

interface Report {
  readonly violations: readonly { rule: string; level: string; message: string; path?: string; line?: number }[];
  readonly rules: readonly { id: string; status: string; level: string }[];
  readonly passed: boolean;
  readonly files: number;
}

const TOKEN = ['gh', 'p_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('');
const REGISTRY = `version: 1
validators:
  - rule: secrets.scan
  - rule: code.todo.blockers
    enforcement: warning
`;

describe('validate [S0-57]', () => {
  test('runs what is in force, names file, line, rule and level, and never the secret [S0-57] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, registry: REGISTRY }, async (repository, runtime) => {
      repository.write({ 'b.txt': `\n\nkey = ${TOKEN}\n`, 'c.txt': 'TODO: later\n' });
      const report = await runtime.call<Report>('validate');
      assert.equal(report.passed, false);
      const found = report.violations.map(({ rule, level, path, line }) => `${rule} ${level} ${path}:${line}`);
      assert.deepEqual(found.toSorted(), ['code.todo.blockers warning c.txt:1', 'secrets.scan blocking b.txt:3']);
      assert.ok(!JSON.stringify([report, ...runtime.runtime.records()]).includes(TOKEN));
    }));

  test('one rule, several, a level or a glob: only those [S0-57]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, registry: REGISTRY }, async (repository, runtime) => {
      repository.write({ 'b.txt': `key = ${TOKEN}\n`, 'c.txt': 'TODO: later\n' });
      const ids = async (args: object) =>
        (await runtime.call<Report>('validate', args)).violations.map(({ rule }) => rule);
      assert.deepEqual(await ids({ rule_id: 'secrets.scan' }), ['secrets.scan']);
      assert.deepEqual((await ids({ rule_id: ['code.todo.blockers', 'secrets.scan'] })).toSorted(), [
        'code.todo.blockers',
        'secrets.scan',
      ]);
      assert.deepEqual(await ids({ enforcement: 'warning' }), ['code.todo.blockers']);
      assert.deepEqual(await ids({ glob: 'b.*' }), ['secrets.scan']);
      assert.deepEqual(await ids({ glob: ['a.txt'] }), []);
      const error = await runtime.refused('validate', { rule_id: 'secret.scan' });
      assert.equal(error.code, 'E_VALIDATION_FAIL');
      assert.match(error.message, /secrets\.scan/);
    }));

  test('a named rule runs at its own level although no registry lists it [S0-57]', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
      repository.write({ 'b.txt': `key = ${TOKEN}\n` });
      assert.deepEqual((await runtime.call<Report>('validate')).violations, []);
      const named = await runtime.call<Report>('validate', { rule_id: 'secrets.scan' });
      assert.equal(named.violations[0]?.level, 'blocking');
    }));

  test('staged, and a range from a revision; anything else is a bad argument [S0-57]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, registry: REGISTRY }, async (repository, runtime) => {
      repository.write({ 'b.txt': `key = ${TOKEN}\n` });
      const passes = async (args: object) => (await runtime.call<Report>('validate', args)).passed;
      assert.equal(await passes({ scope: 'staged' }), true);
      repository.git('add', 'b.txt');
      assert.equal(await passes({ scope: 'staged' }), false);
      repository.git('commit', '-q', '-m', 'feat: b');
      assert.equal(await passes({ scope: 'range', since: 'HEAD~1' }), false);
      assert.equal(await passes({ scope: 'range', since: 'HEAD' }), true);
      for (const args of [{ scope: 'range' }, { since: 'HEAD' }, { scope: 'staged', index: '../index' }]) {
        assert.equal((await runtime.refused('validate', args)).code, 'E_VALIDATION_FAIL', JSON.stringify(args));
      }
      assert.equal((await runtime.refused('validate', { scope: 'range', since: '--all' })).code, 'E_GIT');
    }));

  test('contents judged before are not judged again, and any change is [S0-57]', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    let runs = 0;
    const counting = defineRule({
      id: 'test.counting',
      category: 'Test',
      description: 'Counts how often it runs',
      phase: 'on-commit',
      trigger: 'on commit',
      defaultEnforcement: 'blocking',
      byContent: true,
      appliesTo: () => true,
      check: () => {
        runs += 1;
        return [{ message: `run ${runs}`, path: 'a.txt' }];
      },
    });
    const runtime = await openGitRuntime(repository, { rules: [counting] });
    try {
      const run = async () =>
        (await runtime.call<Report>('validate', { rule_id: 'test.counting' })).violations[0]?.message;
      assert.deepEqual([await run(), await run()], ['run 1', 'run 1']);
      repository.write({ 'a.txt': 'two\n' });
      assert.deepEqual([await run(), await run()], ['run 2', 'run 2']);
      repository.write({ 'new.txt': 'x\n' });
      assert.equal(await run(), 'run 3');
      repository.git('switch', '-q', '-c', 'side');
      assert.equal(await run(), 'run 4', 'the branch is part of what is judged');
      repository.write({ 'a.txt': 'one\n', 'new.txt': null });
      repository.git('switch', '-q', 'main');
      assert.equal(await run(), 'run 1', 'and the old contents are remembered');
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('4.36 a fix is returned and announced, and nothing is changed', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    const fix = { edits: [{ start_line: 1, new_text: 'two' }] };
    const fixing = defineRule({
      id: 'test.fixing',
      category: 'Test',
      description: 'Proposes a fix',
      phase: 'on-commit',
      trigger: 'on commit',
      defaultEnforcement: 'suggestion',
      appliesTo: () => true,
      check: () => [{ message: 'better two', path: 'a.txt', line: 1, fix }],
    });
    const runtime = await openGitRuntime(repository, { rules: [fixing] });
    try {
      const announced: unknown[] = [];
      runtime.session.listen(({ message }) => {
        if (message.event === 'TaskProgress') announced.push(message.data?.['fix']);
      });
      const report = await runtime.call<Report & { violations: { fix: unknown }[] }>('validate', {
        rule_id: 'test.fixing',
      });
      assert.deepEqual(report.violations[0]?.fix, fix);
      assert.equal(report.passed, true, 'a suggestion blocks nothing');
      assert.deepEqual(announced.filter(Boolean), [fix]);
      assert.equal(repository.git('status', '--porcelain'), '');
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('needs no right to start programs unless the registry configures some [S0-57]', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
      await runtime.call('validate');
      const commands = await openGitRuntime(repository, {
        registry: "version: 1\nside_effect_level: read_only\ncommands:\n  build: 'true'\n",
      });
      assert.equal((await commands.refused('validate')).code, 'E_POLICY');
      await commands.dispose();
    }));

  test('without a repository every file that is not ignored is judged, and what needs commits says so [S0-57]', async () => {
    const registry = `${REGISTRY}commands:\n  build: 'cat broken.txt missing.txt'\n`;
    const scratch = await openScratchRuntime({ registry: { file: 'r.yaml', text: registry } });
    try {
      const write = (name: string, text: string) => writeFileSync(join(scratch.workspace, name), text);
      write('.gitignore', 'ignored.txt\n');
      for (const name of ['a.txt', '.hidden', 'ignored.txt']) write(name, `key = ${TOKEN}\n`);
      symlinkSync('a.txt', join(scratch.workspace, 'link.txt'));
      const places = async (args: object) => {
        const { data, errors } = await scratch.session.call('validate', args as never);
        assert.deepEqual(errors, []);
        return (data as Report).violations.map(({ rule, path, line }) => `${rule} ${path}:${line}`);
      };
      const all = ['secrets.scan .hidden:1', 'secrets.scan a.txt:1'];
      assert.deepEqual((await places({})).toSorted(), all);
      write('a.txt', 'sound\n');
      assert.deepEqual(await places({}), ['secrets.scan .hidden:1']);
      assert.deepEqual(await places({ glob: '*.txt' }), []);
      write('broken.txt', 'a.txt:1:1: error: wrong\n');
      assert.deepEqual(await places({ rule_id: 'build.must.pass' }), ['build.must.pass a.txt:1']);
      for (const args of [{ scope: 'staged' }, { scope: 'range', since: 'HEAD' }] as const) {
        const { errors } = await scratch.session.call('validate', args);
        assert.deepEqual([errors[0]?.code, errors[0]?.details?.['reason']], ['E_GIT', 'no_repository']);
        assert.match(String(errors[0]?.details?.['next']), /scope worktree/);
      }
    } finally {
      await scratch.dispose();
    }
  });

  test('a command that changes files is noticed without a repository, too [S0-57]', async () => {
    const registry = "version: 1\ncommands:\n  build: 'cp other.txt a.txt'\n";
    const scratch = await openScratchRuntime({ registry: { file: 'r.yaml', text: registry } });
    try {
      for (const name of ['a.txt', 'other.txt']) writeFileSync(join(scratch.workspace, name), `${name}\n`);
      const { data } = await scratch.session.call('validate', { rule_id: 'build.must.pass' });
      assert.match(JSON.stringify(data), /Build changed files: a\.txt/);
    } finally {
      await scratch.dispose();
    }
  });
});
