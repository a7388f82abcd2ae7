import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createRepository, hostileWords, withRepository } from '../../../test/git-repository.ts';
import { stateOf } from '../../../test/git-state.ts';
import { changesOf } from '../../../test/watched-changes.ts';
import { withoutGuard } from '../../../test/without-guard.ts';
import { gitCheckout } from './git-checkout.ts';
import { gitRecover } from './git-recover.ts';

const tools = [gitCheckout, gitRecover, withoutGuard(gitCheckout)];

interface CheckedOut {
  readonly checked_out: boolean;
  readonly branch: string | null;
  readonly head: string | null;
  readonly previous: string | null;
  readonly created: boolean;
  readonly upstream: string | null;
  readonly recovery: string;
}

describe('git_checkout [S0-46]', () => {
  test('switches to a branch, a tag and a commit, and answers where HEAD is and was [S0-46] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const first = repository.git('rev-parse', 'HEAD').trim();
      repository.git('tag', 'v1');
      repository.git('switch', '--quiet', '-c', 'side');
      const second = repository.commit({ 'a.txt': 'two\n', 'b.txt': 'new\n' });
      repository.git('switch', '--quiet', 'main');
      const { recovery, ...branch } = await runtime.call<CheckedOut>('git_checkout', { target: 'side' });
      assert.deepEqual(branch, {
        checked_out: true,
        branch: 'side',
        head: second,
        previous: 'main',
        created: false,
        upstream: null,
      });
      assert.match(recovery, /^refs\/tool-runtime\/recovery\//);
      assert.equal(readFileSync(repository.path('b.txt'), 'utf8'), 'new\n');
      for (const target of ['v1', 'HEAD~1', first.slice(0, 10), 'refs/heads/main']) {
        repository.git('switch', '--quiet', 'side');
        const detached = await runtime.call<CheckedOut>('git_checkout', { target });
        assert.equal(detached.branch, null, target);
        assert.equal(detached.head, first);
        assert.equal(detached.previous, 'side');
        assert.equal(repository.gitCode('symbolic-ref', '-q', 'HEAD'), 1);
      }
      assert.equal((await runtime.call<CheckedOut>('git_checkout', { target: 'main' })).previous, first);
    }));

  test('makes a branch from HEAD or elsewhere; one that exists is refused [S0-46]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const first = repository.git('rev-parse', 'HEAD').trim();
      repository.commit({ 'a.txt': 'two\n' });
      const here = await runtime.call<CheckedOut>('git_checkout', { target: 'feat/x-1', create: true });
      assert.equal(here.branch, 'feat/x-1');
      assert.equal(here.created, true);
      const there = await runtime.call<CheckedOut>('git_checkout', { target: 'old', create: true, start: 'main~1' });
      assert.equal(there.head, first);
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'one\n');
      const error = await runtime.refused('git_checkout', { target: 'main', create: true });
      assert.equal(error.details?.['reason'], 'branch_exists');
      assert.equal((await runtime.refused('git_checkout', { target: 'n', create: true, start: 'no' })).path, 'start');
      assert.equal(repository.git('branch', '--format=%(refname:short)').trim(), 'feat/x-1\nmain\nold');
    }));

  test('before the first commit a new branch is only a name [S0-46]', () =>
    withRepository({ tools }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'one\n' });
      const done = await runtime.call<CheckedOut>('git_checkout', { target: 'trunk', create: true });
      assert.equal(done.branch, 'trunk');
      assert.equal(done.head, null);
      assert.equal(repository.git('symbolic-ref', 'HEAD').trim(), 'refs/heads/trunk');
      await runtime.call('git_recover', { recovery: done.recovery });
      assert.equal(repository.git('symbolic-ref', 'HEAD').trim(), 'refs/heads/main');
      assert.equal(
        (await runtime.refused('git_checkout', { target: 'nothing' })).details?.['reason'],
        'unknown_revision',
      );
    }));

  test('a branch only a remote has is made and follows it; two remotes make it ambiguous [S0-46] (deep)', async () => {
    const origin = createRepository({ files: { 'a.txt': 'one\n' } });
    origin.git('switch', '--quiet', '-c', 'feature');
    const tip = origin.commit({ 'f.txt': 'feature\n' });
    await withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('remote', 'add', 'origin', origin.folder);
      repository.git('fetch', '--quiet', 'origin');
      assert.equal(
        (await runtime.refused('git_checkout', { target: 'feature', track: false })).details?.['reason'],
        'unknown_revision',
      );
      const made = await runtime.call<CheckedOut>('git_checkout', { target: 'feature' });
      assert.deepEqual([made.branch, made.head, made.created, made.upstream], ['feature', tip, true, 'origin/feature']);
      assert.equal(repository.git('rev-parse', '--abbrev-ref', 'feature@{upstream}').trim(), 'origin/feature');
      const named = await runtime.call<CheckedOut>('git_checkout', {
        target: 'mine',
        create: true,
        start: 'origin/feature',
      });
      assert.equal(named.upstream, 'origin/feature');
      const loose = await runtime.call<CheckedOut>('git_checkout', {
        target: 'loose',
        create: true,
        start: 'origin/feature',
        track: false,
      });
      assert.equal(loose.upstream, null);
      assert.notEqual(repository.gitCode('rev-parse', '--verify', '-q', 'loose@{upstream}'), 0);
      repository.git('remote', 'add', 'second', origin.folder);
      repository.git('fetch', '--quiet', 'second');
      repository.git('branch', '--quiet', '-D', 'feature');
      const error = await runtime.refused('git_checkout', { target: 'feature' });
      assert.deepEqual(error.details?.['remotes'], ['origin', 'second']);
    });
    origin.dispose();
  });

  test('git’s own refusal names the changed files and leaves everything as it is [S0-46]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'a.txt': 'two\n' });
      repository.git('switch', '--quiet', 'main');
      repository.write({ 'a.txt': 'dirty\n' });
      const before = stateOf(repository);
      const guarded = await runtime.refused('git_checkout', { target: 'side' });
      assert.equal(guarded.details?.['rule'], 'sec.git.clean_tree');
      const error = await runtime.refused('unguarded_git_checkout', { target: 'side' });
      assert.equal(error.code, 'E_GIT');
      assert.equal(error.details?.['reason'], 'would_overwrite');
      assert.deepEqual(error.details?.['paths'], ['a.txt']);
      assert.deepEqual(stateOf(repository), before);
      repository.git('checkout', '--quiet', 'a.txt');
      assert.equal((await runtime.call<CheckedOut>('git_checkout', { target: 'side' })).branch, 'side');
    }));

  test('never writes over untracked or ignored files, not even folders of them [S0-46] (deep)', () =>
    withRepository({ files: { '.gitignore': '*.env\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.write({ 'x.env': 'theirs\n', 'folder/y.env': 'theirs\n', 'plain.txt': 'theirs\n' });
      repository.git('add', '--force', '.');
      repository.commit({});
      repository.git('switch', '--quiet', 'main');
      for (const files of [
        { 'x.env': 'precious\n' },
        { folder: 'a file\n' },
        { 'x.env/inner.env': 'precious\n' },
        { 'plain.txt': 'precious\n' },
      ]) {
        repository.write(files);
        const before = stateOf(repository);
        const error = await runtime.refused('git_checkout', { target: 'side' });
        assert.equal(error.details?.['reason'], 'in_the_way');
        assert.deepEqual(error.details?.['paths'], Object.keys(files));
        assert.deepEqual(stateOf(repository), before);
        repository.git('clean', '--quiet', '-fdx');
      }
      assert.equal((await runtime.call<CheckedOut>('git_checkout', { target: 'side' })).branch, 'side');
    }));

  test('refuses a switch in the middle of a merge [S0-46] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'a.txt': 'two\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'three\n' });
      repository.gitCode('merge', 'side');
      const before = stateOf(repository);
      assert.equal((await runtime.refused('unguarded_git_checkout', { target: 'side' })).code, 'E_GIT');
      assert.deepEqual(stateOf(repository), before);
    }));

  test('reports the files it changed [S0-46]', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'gone.txt': 'x\n' }, tools }, async (repository) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'a.txt': 'two\n', 'gone.txt': null, 'ü "new".txt': 'x\n' });
      repository.git('switch', '--quiet', 'main');
      const seen = await changesOf(repository, tools, { tool: 'git_checkout', args: { target: 'side' } });
      assert.deepEqual(seen, ['-o ü "new".txt', 'o- gone.txt', 'oo a.txt']);
    }));

  test('no word of a caller is an option [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const canary = join(repository.beside, 'canary');
      const before = repository.git('for-each-ref', 'refs/heads/') + repository.git('symbolic-ref', 'HEAD');
      for (const word of [...hostileWords(canary), '@{-1}', '-', '--detach', '--orphan=x', '-f']) {
        for (const args of [
          { target: word },
          { target: word, create: true },
          { target: 'fresh', create: true, start: word },
        ]) {
          const response = await runtime.ask('git_checkout', args);
          assert.equal(response.ok, false, JSON.stringify(args));
        }
        assert.equal(existsSync(canary), false);
      }
      assert.equal(repository.git('for-each-ref', 'refs/heads/') + repository.git('symbolic-ref', 'HEAD'), before);
      assert.ok((await runtime.call<CheckedOut>('git_checkout', { target: 'fresh', create: true })).created);
    }));
});
