import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type TestRepository, withRepository } from '../../../test/git-repository.ts';
import { stateOf } from '../../../test/git-state.ts';
import { gitContinue } from './git-continue.ts';
import { gitRecover } from './git-recover.ts';

const tools = [gitContinue, gitRecover];

interface Continued {
  readonly operation: string;
  readonly finished: boolean;
  readonly conflicts: readonly string[];
  readonly head: string;
  readonly branch: string | null;
  readonly commit?: string;
  readonly recovery: string;
}

/** main and side disagree about a.txt. */
function disagree(repository: TestRepository): void {
  repository.git('switch', '--quiet', '-c', 'side');
  repository.commit({ 'a.txt': 'side\n' }, 'feat: side');
  repository.git('switch', '--quiet', 'main');
  repository.commit({ 'a.txt': 'main\n' }, 'feat: main');
}

function resolve(repository: TestRepository, text = 'both\n'): void {
  repository.write({ 'a.txt': text });
  repository.git('add', 'a.txt');
}

describe('git_continue [S0-47]', () => {
  test('commits a resolved merge with the prepared message and both parents [S0-47] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      disagree(repository);
      repository.gitCode('merge', 'side');
      const unmerged = await runtime.refused('git_continue');
      assert.ok(['E_GIT', 'E_POLICY'].includes(unmerged.code));
      assert.ok(existsSync(repository.path('.git/MERGE_HEAD')));
      resolve(repository);
      const before = stateOf(repository);
      const done = await runtime.call<Continued>('git_continue');
      assert.deepEqual([done.operation, done.finished, done.branch], ['merge', true, 'main']);
      assert.equal(done.commit, repository.git('rev-parse', 'HEAD').trim());
      assert.equal(repository.git('log', '-1', '--format=%B').trim(), "Merge branch 'side'");
      assert.equal(repository.git('rev-list', '--parents', '-1', 'HEAD').trim().split(' ').length, 3);
      assert.equal(repository.git('status', '--porcelain'), '');
      assert.equal(existsSync(repository.path('.git/MERGE_HEAD')), false);
      await runtime.call('git_recover', { recovery: done.recovery });
      assert.deepEqual(stateOf(repository), before);
    }));

  test('passes the commit gate: what a rule refuses is not committed [S0-62] (deep)', () =>
    withRepository(
      {
        files: { 'a.txt': 'one\n' },
        tools,
        registry: 'version: 1\nvalidators:\n  - rule: secrets.scan\n    enforcement: blocking\n',
      },
      async (repository, runtime) => {
        disagree(repository);
        repository.gitCode('merge', 'side');
        resolve(repository, `key = "${['ghp', '_', 'x7Kq2Lm9Zt4Rb1Vn8Yc3Wd6Hf5Jg0PsQaTe9'].join('')}"\n`);
        const head = repository.git('rev-parse', 'HEAD');
        const error = await runtime.refused('git_continue');
        assert.equal(error.details?.['rule'], 'secrets.scan');
        assert.equal(repository.git('rev-parse', 'HEAD'), head);
        assert.ok(existsSync(repository.path('.git/MERGE_HEAD')));
        resolve(repository);
        assert.equal((await runtime.call<Continued>('git_continue')).finished, true);
      },
    ));

  test('goes on with a rebase, from conflict to conflict, keeping the author [S0-48] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.write({ 'a.txt': 'side\n' });
      repository.git('commit', '--quiet', '--all', '--author=Grace <g@example.org>', '-m', 'feat: a');
      repository.commit({ 'b.txt': 'side\n' }, 'feat: b');
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'main\n', 'b.txt': 'main\n' });
      assert.equal(repository.gitCode('rebase', 'main', 'side'), 1);
      resolve(repository);
      const response = await runtime.ask('git_continue');
      assert.ok(response.ok, JSON.stringify(response.errors));
      const first = response.data as unknown as Continued;
      assert.deepEqual([first.operation, first.finished, first.conflicts], ['rebase', false, ['b.txt']]);
      assert.equal(response.warnings[0]?.details?.['reason'], 'conflicts');
      repository.write({ 'b.txt': 'both\n' });
      repository.git('add', 'b.txt');
      const second = await runtime.call<Continued>('git_continue');
      assert.deepEqual([second.finished, second.branch], [true, 'side']);
      assert.equal(repository.git('log', '-2', '--format=%an %s'), 'Ada Tester feat: b\nGrace feat: a\n');
    }));

  test('a rebase plan that runs commands is refused before anything runs [S0-48] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      disagree(repository);
      repository.gitCode('rebase', 'main', 'side');
      resolve(repository);
      const todo = repository.path('.git/rebase-merge/git-rebase-todo');
      const plan = readFileSync(todo, 'utf8');
      const canary = join(repository.folder, 'canary');
      for (const line of [`exec touch ${canary}`, `x touch ${canary}`, `  exec touch ${canary}`]) {
        writeFileSync(todo, `${line}\n${plan}`);
        const error = await runtime.refused('git_continue');
        assert.deepEqual([error.code, error.details?.['reason']], ['E_POLICY', 'rebase_exec']);
        assert.equal(existsSync(canary), false);
      }
      writeFileSync(todo, plan);
      assert.equal((await runtime.call<Continued>('git_continue')).finished, true);
    }));

  test('goes on with a cherry-pick and a revert [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      disagree(repository);
      repository.gitCode('cherry-pick', 'side');
      resolve(repository);
      const picked = await runtime.call<Continued>('git_continue');
      assert.deepEqual([picked.operation, picked.finished], ['cherry-pick', true]);
      assert.equal(repository.git('log', '-1', '--format=%s').trim(), 'feat: side');
      assert.equal(repository.gitCode('revert', '--no-edit', 'HEAD~1'), 1);
      resolve(repository, 'reverted\n');
      const reverted = await runtime.call<Continued>('git_continue');
      assert.deepEqual([reverted.operation, reverted.finished], ['revert', true]);
    }));

  test('says clearly that nothing is under way, or something else [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      assert.equal((await runtime.refused('git_continue')).details?.['reason'], 'nothing_in_progress');
      repository.write({ '.git/rebase-apply/applying': '' });
      assert.equal((await runtime.refused('git_continue')).details?.['reason'], 'am_in_progress');
    }));
});
