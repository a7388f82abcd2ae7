import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createRepository, openGitRuntime, withRepository } from '../../../test/git-repository.ts';
import type { ChangedFile } from '../../contracts/git.ts';
import type { RuleContext, RuleSubject } from '../../contracts/rule.ts';
import { defineTool } from '../../contracts/tool.ts';
import { secGitCleanTree } from '../../rules/sec.git.clean_tree.ts';
import { readBlobs } from '../../validation/change-set.ts';
import { gitCommit } from './git-commit.ts';

interface Committed {
  readonly commit: string;
  readonly tree: string;
  readonly parent: string | null;
  readonly recovery: string;
}

describe('git_commit [S0-45]', () => {
  test('commits what is staged, signed off when asked, and answers the hash git has [S0-45] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
      const parent = repository.git('rev-parse', 'HEAD').trim();
      repository.write({ 'a.txt': 'two\n' });
      repository.git('add', 'a.txt');
      const done = await runtime.call<Committed>('git_commit', {
        message: 'fix: second\n\nBody -- with dashes',
        signoff: true,
      });
      assert.equal(done.commit, repository.git('rev-parse', 'HEAD').trim());
      assert.equal(done.tree, repository.git('rev-parse', 'HEAD^{tree}').trim());
      assert.equal(done.parent, parent);
      assert.equal(
        repository.git('log', '-1', '--format=%B').trim(),
        'fix: second\n\nBody -- with dashes\n\nSigned-off-by: Ada Tester <ada@example.org>',
      );
      assert.equal(repository.git('status', '--porcelain'), '');
      const { message } = { message: repository.git('log', '-1', '--format=%an <%ae>').trim() };
      assert.equal(message, 'Ada Tester <ada@example.org>');
    }));

  test('the first commit of a repository; nothing is signed off by itself [S0-45]', () =>
    withRepository({}, async (repository, runtime) => {
      repository.write({ 'ü "x".txt': 'one\n' });
      repository.git('add', '.');
      const done = await runtime.call<Committed>('git_commit', { message: 'feat: begin' });
      assert.equal(done.parent, null);
      assert.equal(repository.git('log', '-1', '--format=%B').trim(), 'feat: begin');
      assert.equal(repository.git('rev-parse', '--abbrev-ref', 'HEAD').trim(), 'main');
    }));

  test('format.signOff and git.signoff sign off, and the call has the last word [S0-45] (deep)', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    const commit = async (registry: string, args: object) => {
      const runtime = await openGitRuntime(repository, { registry: `version: 1\n${registry}` });
      try {
        await runtime.call('git_commit', { message: 'chore: x', allow_empty: true, ...args });
        return repository.git('log', '-1', '--format=%B').includes('Signed-off-by: Ada Tester');
      } finally {
        await runtime.dispose();
      }
    };
    try {
      assert.equal(await commit('', {}), false);
      assert.equal(await commit('git: {signoff: true}\n', {}), true);
      assert.equal(await commit('git: {signoff: true}\n', { signoff: false }), false);
      repository.git('config', 'format.signOff', 'true');
      assert.equal(await commit('', {}), true);
      assert.equal(await commit('', { signoff: false }), false);
    } finally {
      repository.dispose();
    }
  });

  test('a part of the work is committed, the rest stays as it is, and the state before can be had back [S0-45]', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'two\n', 'b.txt': 'two\n', 'new.txt': 'new\n' });
      repository.git('add', 'a.txt');
      const before = repository.git('rev-parse', 'HEAD').trim();
      const { recovery, commit } = await runtime.call<Committed>('git_commit', { message: 'fix: a' });
      assert.equal(repository.git('status', '--porcelain'), ' M b.txt\n?? new.txt\n');
      const refused = await runtime.refused('git_recover');
      assert.equal(refused.details?.['reason'], 'commits_since');
      assert.deepEqual(refused.details?.['dropped'], [`${commit.slice(0, 7)} fix: a`]);
      assert.equal(repository.git('rev-parse', 'HEAD').trim(), commit, 'nothing moved');
      const done = await runtime.call<{ dropped: string[] }>('git_recover', { recovery });
      assert.deepEqual(done.dropped, [`${commit.slice(0, 7)} fix: a`]);
      assert.equal(repository.git('rev-parse', 'HEAD').trim(), before);
      assert.equal(repository.git('status', '--porcelain'), 'M  a.txt\n M b.txt\n?? new.txt\n');
    }));

  test('going back before a commit leaves alone what was changed since [S0-45]', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'two\n' });
      repository.git('add', 'a.txt');
      const { recovery } = await runtime.call<Committed>('git_commit', { message: 'fix: a' });
      repository.write({ 'b.txt': 'later\n', 'new.txt': 'new\n' });
      await runtime.call('git_recover', { recovery });
      assert.equal(repository.git('status', '--porcelain'), 'M  a.txt\n M b.txt\n?? new.txt\n');
      assert.equal(repository.git('show', ':a.txt'), 'two\n');
    }));

  test('going back before a commit from another branch brings branch, index and unchanged files back [S0-45] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n' } }, async (repository, runtime) => {
      const before = repository.git('rev-parse', 'HEAD').trim();
      repository.write({ 'a.txt': 'two\n', 'added.txt': 'added\n' });
      repository.git('add', 'a.txt', 'added.txt');
      const { recovery } = await runtime.call<Committed>('git_commit', { message: 'fix: a' });
      repository.git('checkout', '-q', '-b', 'other', before);
      repository.write({ 'b.txt': 'other\n', 'only.txt': 'only\n' });
      repository.git('add', '.');
      repository.git('commit', '-q', '-m', 'feat: other');
      repository.write({ 'c.txt': 'changed since\n', 'added.txt': 'stands there\n' });
      await runtime.call('git_recover', { recovery });
      assert.equal(repository.git('symbolic-ref', 'HEAD').trim(), 'refs/heads/main');
      assert.equal(repository.git('rev-parse', 'HEAD').trim(), before);
      assert.equal(repository.git('status', '--porcelain'), 'M  a.txt\nAM added.txt\n M c.txt\n');
      assert.deepEqual(
        ['a.txt', 'b.txt', 'added.txt'].map((name) => readFileSync(repository.path(name), 'utf8')),
        ['two\n', 'one\n', 'stands there\n'],
      );
    }));

  test('what a tree cannot say of an index comes back with it [S0-45] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'two\n', 'new.txt': 'new\n' });
      repository.git('add', 'a.txt');
      repository.git('add', '--intent-to-add', 'new.txt');
      repository.git('update-index', '--skip-worktree', 'b.txt');
      const before = repository.git('status', '--porcelain') + repository.git('ls-files', '-t');
      const { recovery } = await runtime.call<Committed>('git_commit', { message: 'fix: a' });
      repository.git('update-index', '--no-skip-worktree', 'b.txt');
      repository.git('reset', '-q');
      await runtime.call('git_recover', { recovery });
      assert.equal(repository.git('status', '--porcelain') + repository.git('ls-files', '-t'), before);
    }));

  test('nothing staged is E_GIT, and allow_empty makes it a commit [S0-45] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
      const before = repository.git('rev-parse', 'HEAD');
      const error = await runtime.refused('git_commit', { message: 'chore: nothing' });
      assert.equal(error.code, 'E_GIT');
      assert.equal(error.details?.['reason'], 'nothing_staged');
      assert.equal(repository.git('rev-parse', 'HEAD'), before);
      await runtime.call('git_commit', { message: 'chore: nothing', allow_empty: true });
      assert.notEqual(repository.git('rev-parse', 'HEAD'), before);
    }));

  test('an empty message is refused before anything happens [S0-45]', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (_repository, runtime) => {
      for (const message of ['', ' \n\t', 'a\0b']) {
        assert.equal((await runtime.refused('git_commit', { message })).code, 'E_VALIDATION_FAIL');
      }
    }));

  test('a message that looks like options is only a message [S0-45] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
      for (const message of ['--amend', '-F /etc/passwd', '--template=/etc/passwd']) {
        await runtime.call('git_commit', { message, allow_empty: true, signoff: false });
        assert.equal(repository.git('log', '-1', '--format=%B').trim(), message);
      }
      assert.equal(repository.git('rev-list', '--count', 'HEAD').trim(), '4');
    }));

  test('a lock that was left behind is named, with what to do about it [S0-45]', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
      repository.write({ '.git/index.lock': '', 'b.txt': 'b\n' });
      const error = await runtime.refused('git_add', { paths: ['b.txt'] });
      assert.equal(error.details?.['reason'], 'locked');
      repository.write({ '.git/index.lock': null });
      await runtime.call('git_add', { paths: ['b.txt'] });
    }));

  test('leaves no frozen index behind, whether it commits or not [S0-45] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
      await runtime.call('git_commit', { message: 'chore: x', allow_empty: true });
      await runtime.refused('git_commit', { message: 'chore: x' });
      const left = (await import('node:fs'))
        .readdirSync(repository.path('.git'))
        .filter((name) => /tool-runtime/.test(name));
      assert.deepEqual(left, []);
    }));

  test('finishes a merge: both parents, no merge left in progress [S0-45] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
      repository.git('switch', '-q', '-c', 'side');
      repository.commit({ 'b.txt': 'b\n' }, 'feat: b');
      repository.git('switch', '-q', 'main');
      repository.commit({ 'c.txt': 'c\n' }, 'feat: c');
      repository.git('merge', '--no-commit', '--no-ff', 'side');
      await runtime.call('git_commit', { message: 'merge: side' });
      assert.equal(repository.git('log', '-1', '--format=%P').trim().split(' ').length, 2);
      assert.equal(repository.gitCode('rev-parse', '-q', '--verify', 'MERGE_HEAD'), 1);
    }));

  test('a missing committer is made up and reported [S0-45]', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    repository.git('config', '--unset', 'user.name');
    repository.git('config', '--unset', 'user.email');
    const kept = { ...process.env };
    process.env['HOME'] = repository.beside;
    process.env['XDG_CONFIG_HOME'] = repository.beside;
    process.env['GIT_CONFIG_GLOBAL'] = '/dev/null';
    const runtime = await openGitRuntime(repository, { session: { actor: 'robot' } });
    try {
      const response = await runtime.ask('git_commit', { message: 'chore: x', allow_empty: true });
      assert.ok(response.ok);
      assert.equal(response.warnings?.[0]?.details?.['reason'], 'no_identity');
      assert.equal(repository.git('log', '-1', '--format=%an <%ae>').trim(), 'robot <robot@tool-runtime.invalid>');
    } finally {
      for (const name of ['HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL']) {
        if (kept[name] === undefined) delete process.env[name];
        else process.env[name] = kept[name];
      }
      await runtime.dispose();
      repository.dispose();
    }
  });
});

describe('overrides [S0-66]', () => {
  const registry = 'version: 1\nvalidators:\n  - rule: test.required.changed\n';

  test('a code change without a test is blocked, and passes with a reason that is on record [S0-66]', () =>
    withRepository({ files: { 'a.ts': 'export {};\n' }, registry }, async (repository, runtime) => {
      repository.write({ 'a.ts': 'export const a = 1;\n' });
      repository.git('add', 'a.ts');
      const error = await runtime.refused('git_commit', { message: 'feat: a' });
      assert.equal(error.details?.['rule'], 'test.required.changed');
      const overrides = { 'test.required.changed': 'a constant nobody calls yet' };
      const response = await runtime.ask('git_commit', { message: 'feat: a', overrides });
      assert.ok(response.ok, JSON.stringify(response.errors));
      assert.match(response.warnings?.[0]?.message ?? '', /^Passed over/);
      const requested = [...runtime.runtime.records()].filter(({ kind }) => kind === 'requested').at(-1);
      assert.match(JSON.stringify(requested), /a constant nobody calls yet/);
    }));

  test('rules that do not allow it cannot be passed over, and neither can unknown ones [S0-66]', () =>
    withRepository({ files: { 'a.ts': 'export {};\n' }, registry }, async (_repository, runtime) => {
      for (const rule of ['sec.git.clean_tree', 'secrets.scan', 'nobody.knows']) {
        const given = { message: 'chore: x', allow_empty: true, overrides: { [rule]: 'because I say so' } };
        const error = await runtime.refused('git_commit', given);
        assert.equal(error.code, 'E_VALIDATION_FAIL', rule);
        assert.match(String(error.details?.['next']), /test\.required\.changed/);
      }
    }));
});

describe('what was judged is what is committed [S0-67]', () => {
  test('a file staged by another program between gate and commit is not in the commit [S0-67] (deep)', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    // A hook-like tool of our own that commits like git_commit, but lets another program stage in between.
    const slow = defineTool({
      ...gitCommit,
      name: 'slow_commit',
      async run(args, context) {
        repository.write({ 'late.txt': 'late\n' });
        repository.git('add', 'late.txt');
        return gitCommit.run(args, context);
      },
    });
    const runtime = await openGitRuntime(repository, { tools: [slow] });
    try {
      repository.write({ 'a.txt': 'two\n' });
      repository.git('add', 'a.txt');
      await runtime.call('slow_commit', { message: 'fix: two' });
      assert.deepEqual(repository.git('show', '--name-only', '--format=', 'HEAD').trim().split('\n'), ['a.txt']);
      assert.equal(repository.git('status', '--porcelain'), 'A  late.txt\n');
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });
});

test('guard, contents, recovery point and commit take one run of git [S0-45]', async () => {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  const words: string[] = [];
  const counted = defineTool({
    ...gitCommit,
    name: 'counted_commit',
    async run(args, context) {
      const git: typeof context.git = {
        ...context.git,
        run: (request) => {
          words.push(request.words[0] ?? '');
          return context.git.run(request);
        },
      };
      const subject = { git: { verb: 'commit' } } as unknown as RuleSubject;
      assert.deepEqual(await secGitCleanTree.check(subject, { ...context, git } as unknown as RuleContext), []);
      const blob = repository.git('rev-parse', ':a.txt').trim();
      const file = { path: 'a.txt', kind: 'modified', mode: '100644', blob } as unknown as ChangedFile;
      const contents: string[] = [];
      for await (const { bytes } of readBlobs(git, [file], context.signal))
        contents.push(Buffer.from(bytes).toString());
      assert.deepEqual(contents, ['two\n']);
      return gitCommit.run(args, { ...context, git });
    },
  });
  const runtime = await openGitRuntime(repository, { tools: [counted] });
  try {
    repository.write({ 'a.txt': 'two\n' });
    repository.git('add', 'a.txt');
    await runtime.call('counted_commit', { message: 'fix: two' });
    assert.deepEqual(words, ['update-ref']);
  } finally {
    await runtime.dispose();
    repository.dispose();
  }
});
