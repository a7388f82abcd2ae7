import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hostileWords, withRepository } from '../../../test/git-repository.ts';
import { stateOf } from '../../../test/git-state.ts';
import { changesOf } from '../../../test/watched-changes.ts';
import { gitRecover } from './git-recover.ts';
import { gitStash } from './git-stash.ts';

const tools = [gitStash, gitRecover];

interface Stashed {
  readonly done: boolean;
  readonly stashes: readonly { readonly index: number; readonly commit: string; readonly message: string }[];
  readonly conflicts: readonly string[];
  readonly files: readonly string[];
  readonly untracked: readonly string[];
  readonly patch: string;
  readonly recovery: string;
}

describe('git_stash [S0-51]', () => {
  test('puts changes aside with untracked files, lists and shows them, and brings them back [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', '.gitignore': 'ignored\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'two\n', 'ü new.txt': 'new\n', ignored: 'stays\n' });
      const before = stateOf(repository).files;
      const put = await runtime.call<Stashed>('git_stash', { action: 'push', message: '--all of it' });
      assert.equal(put.done, true);
      assert.equal(put.stashes[0]?.message, 'On main: --all of it');
      assert.equal(put.stashes[0]?.commit, repository.git('rev-parse', 'refs/stash').trim());
      assert.equal(repository.git('status', '--porcelain'), '');
      assert.ok(existsSync(repository.path('ignored')));
      const shown = await runtime.call<Stashed>('git_stash', { action: 'show' });
      assert.deepEqual([shown.files, shown.untracked], [['a.txt'], ['ü new.txt']]);
      assert.match(shown.patch, /^\+two$/m);
      const list = await runtime.call<Stashed>('git_stash', { action: 'list' });
      assert.deepEqual(list.stashes, put.stashes);
      const applied = await runtime.call<Stashed>('git_stash', { action: 'apply' });
      assert.equal(applied.done, true);
      assert.deepEqual(stateOf(repository).files, before);
      repository.git('reset', '--quiet', '--hard');
      repository.git('clean', '--quiet', '-f');
      await runtime.call<Stashed>('git_stash', { action: 'pop' });
      assert.deepEqual(stateOf(repository).files, before);
      assert.equal(repository.git('stash', 'list'), '');
    }));

  test('nothing to put aside is not done; untracked files may be left [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      assert.equal((await runtime.call<Stashed>('git_stash', { action: 'push' })).done, false);
      repository.write({ 'a.txt': 'two\n', 'b.txt': 'new\n' });
      await runtime.call<Stashed>('git_stash', { action: 'push', include_untracked: false });
      assert.equal(repository.git('status', '--porcelain').trim(), '?? b.txt');
    }));

  test('a dropped stash comes back with git_recover, under its words [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      for (const text of ['first', 'second', 'third']) {
        repository.write({ 'a.txt': `${text}\n` });
        await runtime.call<Stashed>('git_stash', { action: 'push', message: text });
      }
      const dropped = await runtime.call<Stashed>('git_stash', { action: 'drop', index: 1 });
      assert.equal(dropped.stashes[0]?.message, 'On main: second');
      assert.equal(repository.git('stash', 'list', '--format=%gs'), 'On main: third\nOn main: first\n');
      await runtime.call('git_recover', { recovery: dropped.recovery });
      assert.equal(repository.git('stash', 'list', '--format=%gs').split('\n')[0], 'On main: second');
      assert.equal(repository.git('show', 'stash@{0}:a.txt'), 'second\n');
    }));

  test('a conflict keeps the stash and is an answer with a warning [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'stashed\n' });
      await runtime.call<Stashed>('git_stash', { action: 'push' });
      repository.commit({ 'a.txt': 'other\n' });
      const before = stateOf(repository);
      const response = await runtime.ask('git_stash', { action: 'pop' });
      assert.ok(response.ok, JSON.stringify(response.errors));
      const data = response.data as unknown as Stashed;
      assert.deepEqual([data.done, data.conflicts], [false, ['a.txt']]);
      assert.equal(response.warnings[0]?.details?.['reason'], 'conflicts');
      assert.equal(repository.git('stash', 'list').trim().split('\n').length, 1);
      await runtime.call('git_recover', { recovery: data.recovery });
      assert.deepEqual(stateOf(repository), before);
    }));

  test('refusals leave everything: files in the way, changes in the way, no such stash, unborn HEAD [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'stashed\n', 'new.txt': 'stashed\n' });
      await runtime.call<Stashed>('git_stash', { action: 'push' });
      repository.write({ 'new.txt': 'mine\n' });
      const blocked = await runtime.refused('git_stash', { action: 'pop' });
      assert.deepEqual(blocked.details?.['paths'], ['new.txt']);
      assert.equal(readFileSync(repository.path('new.txt'), 'utf8'), 'mine\n');
      repository.write({ 'new.txt': null, 'a.txt': 'dirty\n' });
      assert.equal((await runtime.refused('git_stash', { action: 'pop' })).details?.['reason'], 'would_overwrite');
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'dirty\n');
      assert.equal(existsSync(repository.path('new.txt')), false);
      for (const action of ['apply', 'pop', 'drop', 'show']) {
        const error = await runtime.refused('git_stash', { action, index: 1 });
        assert.equal(error.details?.['reason'], 'unknown_stash', action);
      }
      repository.git('checkout', '--quiet', 'a.txt');
      assert.equal((await runtime.call<Stashed>('git_stash', { action: 'pop' })).done, true);
      repository.git('switch', '--quiet', '--force', '--orphan', 'empty');
      repository.write({ 'x.txt': 'x\n' });
      assert.equal((await runtime.refused('git_stash', { action: 'push' })).code, 'E_GIT');
      assert.ok(existsSync(repository.path('x.txt')));
    }));

  test('reports what changed, and looking needs no right to write [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } }, async (repository) => {
      repository.write({ 'a.txt': 'two\n', 'b.txt': null, 'c.txt': 'new\n' });
      const call = (action: string) => changesOf(repository, tools, { tool: 'git_stash', args: { action } });
      assert.deepEqual(await call('push'), ['o- c.txt', 'oo a.txt', 'oo b.txt']);
      assert.deepEqual(await call('list'), []);
      assert.deepEqual(await call('pop'), ['-o c.txt', 'o- b.txt', 'oo a.txt']);
    }));

  test('no word of a caller is an option [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const canary = join(repository.beside, 'canary');
      for (const message of hostileWords(canary)) {
        repository.write({ 'a.txt': `${Math.random()}\n` });
        const response = await runtime.ask('git_stash', { action: 'push', message });
        if (response.ok)
          assert.equal(repository.git('log', '-1', '-g', '--format=%gs', 'refs/stash').trim(), `On main: ${message}`);
        else assert.equal(response.errors[0]?.code, 'E_VALIDATION_FAIL');
        assert.equal(existsSync(canary), false);
      }
      assert.equal((await runtime.refused('git_stash', { action: '--help' })).code, 'E_VALIDATION_FAIL');
    }));
});
