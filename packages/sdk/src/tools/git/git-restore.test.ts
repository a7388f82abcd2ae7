import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hostileWords, withRepository } from '../../../test/git-repository.ts';
import { stateOf } from '../../../test/git-state.ts';
import { changesOf } from '../../../test/watched-changes.ts';
import { gitRecover } from './git-recover.ts';
import { gitRestore } from './git-restore.ts';

const tools = [gitRestore, gitRecover];

interface Restored {
  readonly restored: readonly string[];
  readonly recovery: string;
}

describe('git_restore [S0-51]', () => {
  test('throws changes away, and git_recover has them all [S0-51] (deep)', () =>
    withRepository(
      { files: { 'a.txt': 'one\n', 'b.txt': 'one\n', 'd/ü "x".txt': 'one\n' }, tools },
      async (repository, runtime) => {
        repository.write({ 'a.txt': 'two\n', 'b.txt': null, 'd/ü "x".txt': 'two\n', 'new.txt': 'new\n' });
        const before = stateOf(repository);
        const one = await runtime.call<Restored>('git_restore', { paths: ['a.txt'] });
        assert.deepEqual(one.restored, ['a.txt']);
        assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'one\n');
        const all = await runtime.call<Restored>('git_restore', { paths: ['.'] });
        assert.deepEqual(all.restored, ['b.txt', 'd/ü "x".txt']);
        assert.equal(repository.git('status', '--porcelain').trim(), '?? new.txt');
        await runtime.call('git_recover', { recovery: one.recovery });
        assert.deepEqual(stateOf(repository).files, before.files);
      },
    ));

  test('unstages, restores from the index, and from another commit [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.commit({ 'a.txt': 'two\n' });
      repository.write({ 'a.txt': 'staged\n', 'n.txt': 'new\n' });
      repository.git('add', '.');
      repository.write({ 'a.txt': 'dirty\n' });
      const index = await runtime.call<Restored>('git_restore', { paths: ['a.txt'], source: 'index' });
      assert.deepEqual(index.restored, ['a.txt']);
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'staged\n');
      const staged = await runtime.call<Restored>('git_restore', { paths: ['.'], staged: true, worktree: false });
      assert.deepEqual(staged.restored, ['a.txt', 'n.txt']);
      assert.equal(repository.git('status', '--porcelain'), ' M a.txt\n?? n.txt\n');
      await runtime.call<Restored>('git_restore', { paths: ['a.txt'], source: 'HEAD~1' });
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'one\n');
      for (const args of [
        { paths: ['a.txt'], staged: false, worktree: false },
        { paths: ['a.txt'], staged: true, source: 'index' },
        { paths: [] },
      ]) {
        assert.equal((await runtime.refused('git_restore', args)).code, 'E_VALIDATION_FAIL');
      }
    }));

  test('saves ignored and untracked files it writes over [S0-51] (deep)', () =>
    withRepository({ files: { 'x.env': 'tracked\n', 'y.txt': 'tracked\n' }, tools }, async (repository, runtime) => {
      repository.git('rm', '--quiet', 'x.env', 'y.txt');
      repository.commit({ '.gitignore': '*.env\n' });
      repository.write({ 'x.env': 'precious\n', 'y.txt': 'precious\n' });
      const before = stateOf(repository);
      const done = await runtime.call<Restored>('git_restore', { paths: ['x.env', 'y.txt'], source: 'HEAD~1' });
      assert.equal(readFileSync(repository.path('x.env'), 'utf8'), 'tracked\n');
      await runtime.call('git_recover', { recovery: done.recovery });
      assert.deepEqual(stateOf(repository).files, before.files);
    }));

  test('resolves an unmerged file by taking a side [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'a.txt': 'side\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'main\n' });
      repository.gitCode('merge', 'side');
      const before = stateOf(repository);
      const done = await runtime.call<Restored>('git_restore', { paths: ['a.txt'], source: 'side', staged: true });
      assert.deepEqual(done.restored, ['a.txt']);
      assert.equal(repository.git('status', '--porcelain').trim(), 'M  a.txt');
      await runtime.call('git_recover', { recovery: done.recovery });
      assert.deepEqual(stateOf(repository), before);
    }));

  test('refuses unknown files and revisions, and paths outside [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'two\n', 'b.txt': 'untracked\n' });
      const before = stateOf(repository);
      assert.equal((await runtime.refused('git_restore', { paths: ['b.txt'] })).details?.['reason'], 'git_failed');
      assert.equal((await runtime.refused('git_restore', { paths: ['a.txt'], source: 'no' })).path, 'source');
      for (const path of ['../x', '/etc/passwd']) {
        assert.equal((await runtime.refused('git_restore', { paths: [path] })).code, 'E_POLICY');
      }
      assert.deepEqual(stateOf(repository), before);
    }));

  test('names mean themselves, whatever is in them [S0-51]', () =>
    withRepository(
      { files: { 'a.txt': 'one\n', '*.txt': 'one\n', ':(top)x': 'one\n', '-f': 'one\n' }, tools },
      async (repository, runtime) => {
        repository.write({ 'a.txt': 'two\n', '*.txt': 'two\n', ':(top)x': 'two\n', '-f': 'two\n' });
        const done = await runtime.call<Restored>('git_restore', { paths: ['*.txt', ':(top)x', '-f'] });
        assert.deepEqual(done.restored, ['*.txt', '-f', ':(top)x']);
        assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'two\n');
      },
    ));

  test('reports what changed [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } }, async (repository) => {
      repository.write({ 'a.txt': 'two\n', 'b.txt': null });
      const call = { tool: 'git_restore', args: { paths: ['.'] } };
      assert.deepEqual(await changesOf(repository, tools, call), ['-o b.txt', 'oo a.txt']);
    }));

  test('no word of a caller is an option [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'two\n' });
      const canary = join(repository.beside, 'canary');
      for (const word of hostileWords(canary)) {
        assert.equal((await runtime.ask('git_restore', { paths: [word] })).ok, false, word);
        assert.equal((await runtime.ask('git_restore', { paths: ['a.txt'], source: word })).ok, false, word);
        assert.equal(existsSync(canary), false);
      }
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'two\n');
    }));
});
