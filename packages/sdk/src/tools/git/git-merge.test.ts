import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { hostileWords, type TestRepository, withRepository } from '../../../test/git-repository.ts';
import { stateOf } from '../../../test/git-state.ts';
import { changesOf } from '../../../test/watched-changes.ts';
import { withoutGuard } from '../../../test/without-guard.ts';
import { gitMerge } from './git-merge.ts';
import { gitRecover } from './git-recover.ts';

const tools = [gitMerge, gitRecover, withoutGuard(gitMerge)];

interface Merged {
  readonly merged: boolean;
  readonly conflicts: readonly string[];
  readonly commit?: string;
  readonly fast_forward: boolean;
  readonly up_to_date: boolean;
  readonly recovery: string;
}

function branchOff(repository: TestRepository, files: Parameters<TestRepository['commit']>[0]): string {
  repository.git('switch', '--quiet', '-c', 'side');
  const tip = repository.commit(files, 'feat: side');
  repository.git('switch', '--quiet', 'main');
  return tip;
}

describe('git_merge [S0-47]', () => {
  test('makes a merge commit with git’s own message, and moves forward when asked to [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const tip = branchOff(repository, { 'b.txt': 'side\n' });
      const base = repository.git('rev-parse', 'HEAD').trim();
      const { recovery, commit, ...rest } = await runtime.call<Merged>('git_merge', { branch: 'side' });
      assert.deepEqual(rest, { merged: true, conflicts: [], fast_forward: false, up_to_date: false });
      assert.equal(repository.git('rev-list', '--parents', '-1', 'HEAD').trim(), `${commit} ${base} ${tip}`);
      assert.equal(repository.git('log', '-1', '--format=%B%an').trim(), "Merge branch 'side'\nAda Tester");
      const again = await runtime.call<Merged>('git_merge', { branch: 'side' });
      assert.equal(again.up_to_date, true);
      assert.equal(again.commit, commit);
      await runtime.call('git_recover', { recovery });
      assert.equal(repository.git('rev-parse', 'HEAD').trim(), base);
      assert.equal(existsSync(repository.path('b.txt')), false);
      const forward = await runtime.call<Merged>('git_merge', { branch: 'side', no_ff: false });
      assert.equal(forward.fast_forward, true);
      assert.equal(forward.commit, tip);
    }));

  test('takes a message of the caller, and names tags, commits and other branches as git does [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const tip = branchOff(repository, { 'b.txt': 'side\n' });
      repository.git('tag', 'v1', 'side');
      repository.git('switch', '--quiet', '-c', 'into');
      const subject = async (args: object): Promise<string> => {
        await runtime.call<Merged>('git_merge', args);
        const said = repository.git('log', '-1', '--format=%B').trim();
        repository.git('reset', '--quiet', '--hard', 'HEAD^');
        return said;
      };
      assert.equal(await subject({ branch: 'side', message: '-m x\n\n# body' }), '-m x\n\n# body');
      assert.equal(await subject({ branch: 'side' }), "Merge branch 'side' into into");
      assert.equal(await subject({ branch: 'v1' }), "Merge tag 'v1' into into");
      assert.equal(await subject({ branch: tip }), `Merge commit '${tip}' into into`);
    }));

  test('conflicts are an answer with a warning; the merge stays under way and can be taken back [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'ü "x".txt': 'one\n' }, tools }, async (repository, runtime) => {
      branchOff(repository, { 'a.txt': 'side\n', 'ü "x".txt': 'side\n', 'new.txt': 'side\n' });
      repository.commit({ 'a.txt': 'main\n', 'ü "x".txt': 'main\n' }, 'feat: main');
      repository.write({ 'untracked.txt': 'mine\n' });
      const before = stateOf(repository);
      const response = await runtime.ask('git_merge', { branch: 'side' });
      assert.equal(response.ok, true);
      const data = response.data as unknown as Merged;
      assert.equal(data.merged, false);
      assert.deepEqual(data.conflicts, ['a.txt', 'ü "x".txt']);
      assert.equal(data.commit, undefined);
      assert.equal(response.warnings[0]?.code, 'E_GIT');
      assert.equal(response.warnings[0]?.details?.['reason'], 'conflicts');
      assert.ok(existsSync(repository.path('.git/MERGE_HEAD')));
      assert.match(readFileSync(repository.path('a.txt'), 'utf8'), /^<{7}/m);
      await runtime.call('git_recover', { recovery: data.recovery });
      assert.deepEqual(stateOf(repository), before);
    }));

  test('squash only stages [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      branchOff(repository, { 'b.txt': 'side\n' });
      const before = stateOf(repository);
      const done = await runtime.call<Merged>('git_merge', { branch: 'side', squash: true });
      assert.equal(done.merged, true);
      assert.equal(done.commit, repository.git('rev-parse', 'HEAD').trim());
      assert.equal(repository.git('status', '--porcelain').trim(), 'A  b.txt');
      await runtime.call('git_recover', { recovery: done.recovery });
      assert.deepEqual(stateOf(repository), before);
      const error = await runtime.refused('git_merge', { branch: 'side', squash: true, message: 'x' });
      assert.equal(error.code, 'E_VALIDATION_FAIL');
    }));

  test('options a branch carries in the configuration do not count [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      branchOff(repository, { 'b.txt': 'side\n' });
      repository.git('config', 'branch.main.mergeOptions', '--no-commit --strategy=ours');
      repository.git('config', 'merge.ff', 'only');
      const done = await runtime.call<Merged>('git_merge', { branch: 'side' });
      assert.equal(done.merged, true);
      assert.equal(done.fast_forward, false);
      assert.equal(readFileSync(repository.path('b.txt'), 'utf8'), 'side\n');
    }));

  test('never writes over an ignored file, although git would [S0-47] (deep)', () =>
    withRepository({ files: { '.gitignore': '*.env\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.write({ 'x.env': 'theirs\n' });
      repository.git('add', '--force', 'x.env');
      repository.commit({});
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'main\n' });
      repository.write({ 'x.env': 'precious\n' });
      const before = stateOf(repository);
      const error = await runtime.refused('git_merge', { branch: 'side' });
      assert.equal(error.details?.['reason'], 'in_the_way');
      assert.deepEqual(error.details?.['paths'], ['x.env']);
      assert.deepEqual(stateOf(repository), before);
      repository.write({ 'x.env': null });
      assert.equal((await runtime.call<Merged>('git_merge', { branch: 'side' })).merged, true);
    }));

  test('refusals: dirty tree, nothing to merge into, unknown names, histories that share nothing [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      branchOff(repository, { 'a.txt': 'side\n' });
      assert.equal((await runtime.refused('git_merge', { branch: 'no' })).details?.['reason'], 'unknown_revision');
      repository.write({ 'a.txt': 'dirty\n' });
      const before = stateOf(repository);
      const dirty = await runtime.refused('git_merge', { branch: 'side' });
      assert.equal(dirty.details?.['rule'], 'sec.git.clean_tree');
      const own = await runtime.refused('unguarded_git_merge', { branch: 'side' });
      assert.deepEqual([own.code, own.details?.['reason']], ['E_GIT', 'would_overwrite']);
      const { files, head, branches } = stateOf(repository);
      assert.deepEqual(
        { files, head, branches },
        { files: before.files, head: before.head, branches: before.branches },
      );
      repository.git('checkout', '--quiet', 'a.txt');
      repository.git('switch', '--quiet', '--orphan', 'other');
      repository.commit({ 'o.txt': 'x\n' });
      assert.equal((await runtime.refused('git_merge', { branch: 'side' })).details?.['reason'], 'git_failed');
      repository.git('switch', '--quiet', '--orphan', 'empty');
      assert.equal((await runtime.refused('git_merge', { branch: 'side' })).details?.['reason'], 'unborn');
    }));

  test('reports what changed, conflicts included [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } }, async (repository) => {
      branchOff(repository, { 'a.txt': 'side\n', 'b.txt': null, 'c.txt': 'side\n' });
      repository.commit({ 'd.txt': 'main\n' });
      const call = { tool: 'git_merge', args: { branch: 'side' } };
      assert.deepEqual(await changesOf(repository, tools, call), ['-o c.txt', 'o- b.txt', 'oo a.txt']);
      repository.git('reset', '--quiet', '--hard', 'HEAD^');
      repository.commit({ 'a.txt': 'main\n' });
      assert.deepEqual(await changesOf(repository, tools, call), ['-o c.txt', 'o- b.txt', 'oo a.txt']);
    }));

  test('a call that is cancelled at work names the way back [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      branchOff(repository, Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`d/${at}`, `${at}\n`])));
      const before = stateOf(repository);
      const cancel = new AbortController();
      const running = runtime.session.call('git_merge', { ref: 'side' }, { signal: cancel.signal });
      while (!existsSync(repository.path('.git/ORIG_HEAD'))) await wait(1);
      cancel.abort();
      const { ok, errors } = await running;
      assert.equal(ok, false);
      const recovery = errors[0]?.details?.['recovery'];
      assert.equal(recovery, repository.git('for-each-ref', '--format=%(refname)', 'refs/tool-runtime/').trim());
      await runtime.call('git_recover', { recovery });
      assert.deepEqual(stateOf(repository), before);
    }));

  test('no word of a caller is an option [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      branchOff(repository, { 'b.txt': 'side\n' });
      const canary = join(repository.beside, 'canary');
      const head = repository.git('rev-parse', 'HEAD');
      for (const branch of [...hostileWords(canary), '--abort', '-Xours', 'side --strategy=ours']) {
        assert.equal((await runtime.ask('git_merge', { branch })).ok, false, branch);
        assert.equal(existsSync(canary), false);
      }
      assert.equal(repository.git('rev-parse', 'HEAD'), head);
      for (const message of ['', ' ', 'a\0b']) {
        assert.equal((await runtime.refused('git_merge', { branch: 'side', message })).code, 'E_VALIDATION_FAIL');
      }
      await runtime.call<Merged>('git_merge', { branch: 'side', message: `--output=${canary}` });
      assert.equal(existsSync(canary), false);
    }));
});
