import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hostileWords, withRepository } from '../../../test/git-repository.ts';
import { stateOf } from '../../../test/git-state.ts';
import { changesOf } from '../../../test/watched-changes.ts';
import { withoutGuard } from '../../../test/without-guard.ts';
import { gitRebase } from './git-rebase.ts';
import { gitRecover } from './git-recover.ts';

const tools = [gitRebase, gitRecover, withoutGuard(gitRebase)];

interface Rebased {
  readonly rebased: boolean;
  readonly head: string;
  readonly branch: string | null;
  readonly commits: number;
  readonly recovery: string;
}

describe('git_rebase [S0-48]', () => {
  test('replays the commits with their authors, and can be taken back [S0-48] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'b.txt': 'side\n' }, 'feat: one');
      repository.write({ 'c.txt': 'side\n' });
      repository.git('add', '.');
      repository.git('commit', '--quiet', '--author=Grace <grace@example.org>', '-m', 'feat: two');
      repository.git('switch', '--quiet', 'main');
      const onto = repository.commit({ 'a.txt': 'two\n' });
      repository.git('switch', '--quiet', 'side');
      const before = stateOf(repository);
      const { recovery, ...done } = await runtime.call<Rebased>('git_rebase', { onto: 'main' });
      const head = repository.git('rev-parse', 'HEAD').trim();
      assert.deepEqual(done, { rebased: true, head, branch: 'side', commits: 2 });
      assert.equal(repository.git('rev-parse', 'HEAD~2').trim(), onto);
      assert.equal(
        repository.git('log', '-2', '--format=%an %cn %s'),
        'Grace Ada Tester feat: two\nAda Tester Ada Tester feat: one\n',
      );
      assert.equal(repository.git('status', '--porcelain'), '');
      await runtime.call('git_recover', { recovery });
      assert.deepEqual(stateOf(repository), before);
    }));

  test('folds fixup and squash commits, or leaves them alone [S0-48] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'b.txt': 'one\n' }, 'feat: b');
      repository.commit({ 'c.txt': 'one\n' }, 'feat: c');
      repository.commit({ 'b.txt': 'two\n' }, 'fixup! feat: b');
      repository.commit({ 'c.txt': 'two\n' }, 'squash! feat: c\n\nmore words');
      const start = repository.git('rev-parse', 'HEAD').trim();
      const kept = await runtime.call<Rebased>('git_rebase', { onto: 'main', autosquash: false });
      assert.equal(kept.commits, 4);
      assert.equal(kept.head, start);
      const folded = await runtime.call<Rebased>('git_rebase', { onto: 'main' });
      assert.equal(folded.commits, 2);
      assert.equal(repository.git('log', '-2', '--format=%s'), 'feat: c\nfeat: b\n');
      assert.match(repository.git('log', '-1', '--format=%B'), /more words/);
      assert.equal(repository.git('show', 'HEAD~1:b.txt'), 'two\n');
    }));

  test('a conflict puts everything back, byte for byte, and names the files [S0-48] (deep)', () =>
    withRepository(
      {
        files: { 'a.txt': 'one\r\n', '.gitattributes': '*.txt text\n', 'run.sh': { text: 'x\n', mode: 0o755 } },
        tools,
      },
      async (repository, runtime) => {
        repository.git('switch', '--quiet', '-c', 'side');
        repository.commit({ 'b.txt': 'side\n' }, 'feat: fine');
        repository.commit({ 'a.txt': 'side\r\n', 'run.sh': { text: 'side\n', mode: 0o755 } }, 'feat: clash');
        repository.git('switch', '--quiet', 'main');
        repository.commit({ 'a.txt': 'main\r\n', 'n.txt': 'new\n' }, 'feat: main');
        repository.git('switch', '--quiet', 'side');
        repository.write({ 'untracked.txt': 'mine\n', 'a.txt': 'side\r\n' });
        repository.git('add', 'a.txt');
        assert.equal(repository.git('status', '--porcelain').trim(), '?? untracked.txt');
        const before = stateOf(repository);
        const error = await runtime.refused('git_rebase', { onto: 'main' });
        assert.equal(error.code, 'E_GIT');
        assert.equal(error.details?.['reason'], 'conflicts');
        assert.deepEqual(error.details?.['conflicts'], ['a.txt']);
        assert.deepEqual(stateOf(repository), before);
        assert.equal(existsSync(repository.path('.git/rebase-merge')), false);
        repository.commit({ 'a.txt': 'main\r\n' }, 'fix: as main has it');
        repository.git('reset', '--quiet', '--soft', 'main~1');
        repository.git('commit', '--quiet', '-m', 'feat: one');
        assert.equal((await runtime.call<Rebased>('git_rebase', { onto: 'main' })).commits, 1);
      },
    ));

  test('another branch than the current one, and the way back to both [S0-48] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'b.txt': 'side\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'two\n' });
      const before = stateOf(repository);
      const done = await runtime.call<Rebased>('git_rebase', { onto: 'main', branch: 'side' });
      assert.deepEqual([done.branch, done.commits], ['side', 1]);
      assert.equal(repository.git('merge-base', 'main', 'side'), repository.git('rev-parse', 'main'));
      await runtime.call('git_recover', { recovery: done.recovery });
      assert.deepEqual(stateOf(repository), before);
      assert.equal((await runtime.refused('git_rebase', { onto: 'main', branch: 'no' })).path, 'branch');
    }));

  test('leaves other branches, merges of the configuration and stashes alone [S0-48]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'below');
      const below = repository.commit({ 'b.txt': 'x\n' });
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'c.txt': 'x\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'two\n' });
      repository.git('switch', '--quiet', 'side');
      repository.git('config', 'rebase.updateRefs', 'true');
      repository.git('config', 'rebase.autoStash', 'true');
      await runtime.call<Rebased>('git_rebase', { onto: 'main' });
      assert.equal(repository.git('rev-parse', 'below').trim(), below);
    }));

  test('refusals: dirty tree, unborn HEAD, unknown names, ignored files in the way [S0-48] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', '.gitignore': '*.env\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.write({ 'x.env': 'mine\n' });
      repository.git('add', '--force', 'x.env');
      repository.commit({});
      repository.git('rm', '--quiet', 'x.env');
      repository.commit({ 'b.txt': 'x\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'two\n' });
      repository.git('switch', '--quiet', 'side');
      repository.write({ 'x.env': 'precious\n' });
      const before = stateOf(repository);
      const blocked = await runtime.refused('git_rebase', { onto: 'main' });
      assert.deepEqual(blocked.details?.['paths'], ['x.env']);
      assert.deepEqual(stateOf(repository), before);
      repository.write({ 'x.env': null, 'a.txt': 'dirty\n' });
      assert.equal((await runtime.refused('git_rebase', { onto: 'main' })).details?.['rule'], 'sec.git.clean_tree');
      assert.equal(
        (await runtime.refused('unguarded_git_rebase', { onto: 'main' })).details?.['reason'],
        'would_overwrite',
      );
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'dirty\n');
      repository.git('checkout', '--quiet', 'a.txt');
      assert.equal((await runtime.refused('git_rebase', { onto: 'no' })).details?.['reason'], 'unknown_revision');
      assert.equal((await runtime.call<Rebased>('git_rebase', { onto: 'main' })).commits, 2);
      repository.git('switch', '--quiet', '--orphan', 'empty');
      assert.equal((await runtime.refused('git_rebase', { onto: 'main' })).details?.['reason'], 'unborn');
    }));

  test('reports what changed [S0-48]', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'b.txt': 'side\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'two\n', 'c.txt': 'x\n' });
      repository.git('switch', '--quiet', 'side');
      const seen = await changesOf(repository, tools, { tool: 'git_rebase', args: { onto: 'main' } });
      assert.deepEqual(seen, ['-o c.txt', 'oo a.txt']);
    }));

  test('no word of a caller is an option [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const canary = join(repository.beside, 'canary');
      for (const word of [...hostileWords(canary), '--root', '-x', `--exec=touch ${canary}`]) {
        assert.equal((await runtime.ask('git_rebase', { onto: word })).ok, false, word);
        assert.equal((await runtime.ask('git_rebase', { onto: 'main', branch: word })).ok, false, word);
        assert.equal(existsSync(canary), false);
      }
      assert.equal((await runtime.call<Rebased>('git_rebase', { onto: 'HEAD' })).commits, 0);
    }));
});
