import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type TestRepository, withRepository } from '../../../test/git-repository.ts';
import { stateOf } from '../../../test/git-state.ts';
import { changesOf } from '../../../test/watched-changes.ts';
import { gitAbort } from './git-abort.ts';
import { gitRecover } from './git-recover.ts';

const tools = [gitAbort, gitRecover];

interface Aborted {
  readonly aborted: boolean;
  readonly operation: string;
  readonly head: string;
  readonly branch: string | null;
  readonly recovery: string;
}

function disagree(repository: TestRepository): void {
  repository.git('switch', '--quiet', '-c', 'side');
  repository.commit({ 'a.txt': 'side\n', 'n.txt': 'new\n' }, 'feat: side');
  repository.git('switch', '--quiet', 'main');
  repository.commit({ 'a.txt': 'main\n' }, 'feat: main');
}

const STARTS: Readonly<Record<string, readonly string[]>> = {
  merge: ['merge', 'side'],
  rebase: ['rebase', 'side'],
  'cherry-pick': ['cherry-pick', 'side'],
  revert: ['revert', '--no-edit', 'HEAD~1'],
};

describe('git_abort [S0-51]', () => {
  for (const [operation, words] of Object.entries(STARTS)) {
    test(`gives up a ${operation}; what was resolved already comes back with git_recover [S0-51] (deep)`, () =>
      withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
        disagree(repository);
        if (operation === 'revert') repository.commit({ 'a.txt': 'later\n' });
        repository.write({ 'untracked.txt': 'mine\n' });
        const before = stateOf(repository);
        assert.equal(repository.gitCode(...words), 1);
        repository.write({ 'a.txt': 'half resolved\n' });
        const middle = stateOf(repository);
        const done = await runtime.call<Aborted>('git_abort');
        assert.deepEqual([done.aborted, done.operation, done.branch], [true, operation, 'main']);
        const after = stateOf(repository);
        assert.deepEqual([after.files, after.head, after.branches], [before.files, before.head, before.branches]);
        await runtime.call('git_recover', { recovery: done.recovery });
        assert.deepEqual(stateOf(repository), middle);
      }));
  }

  test('reports what changed [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' } }, async (repository) => {
      disagree(repository);
      repository.gitCode('merge', 'side');
      const seen = await changesOf(repository, tools, { tool: 'git_abort', args: {} });
      assert.deepEqual(seen, ['o- n.txt', 'oo a.txt']);
    }));

  test('says clearly that nothing is under way [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (_repository, runtime) => {
      assert.equal((await runtime.refused('git_abort')).details?.['reason'], 'nothing_in_progress');
    }));
});
