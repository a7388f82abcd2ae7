import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type GitRuntime, hostileWords, openGitRuntime, withRepository } from '../../../test/git-repository.ts';
import { gitBranch } from './git-branch.ts';

interface Branch {
  name: string;
  hash: string;
  upstream: string | null;
  ahead: number | null;
  behind: number | null;
  gone?: true;
  current: boolean;
  remote: boolean;
  subject: string;
}

interface Answer {
  current: string | null;
  branches?: Branch[];
  created?: { name: string; hash: string; moved_from?: string };
  deleted?: { name: string; hash: string };
  renamed?: { from: string; to: string; hash: string; replaced?: string };
  tracking?: { name: string; upstream: string | null };
}

const tools = [gitBranch];
const branch = (runtime: GitRuntime, args: object = {}) => runtime.call<Answer>('git_branch', args);
const reasonOf = async (runtime: GitRuntime, args: object) => {
  const { code, details } = await runtime.refused('git_branch', args);
  return [code, details?.['reason']];
};

describe('git_branch', () => {
  test('git_branch lists branches with upstream and distance; remote ones on request [S0-46] (deep)', async () => {
    await withRepository({ tools }, async (repository, runtime) => {
      assert.deepEqual(await branch(runtime), { current: 'main', branches: [], truncated: false });
      const first = repository.commit({ file: '1' }, 'first');
      repository.git('clone', '--quiet', '--bare', repository.folder, '../remote.git');
      repository.git('remote', 'add', 'origin', '../remote.git');
      repository.git('fetch', '--quiet');
      repository.git('remote', 'set-head', 'origin', 'main');
      repository.git('branch', '--set-upstream-to=origin/main');
      repository.git('branch', '--track', 'feature/a', 'main');
      const second = repository.commit({ file: '2' }, 'second');
      const { branches, current } = await branch(runtime);
      assert.equal(current, 'main');
      const plain = { remote: false, current: false };
      assert.deepEqual(branches, [
        { ...plain, name: 'feature/a', hash: first, upstream: 'main', ahead: 0, behind: 1, subject: 'first' },
        {
          ...plain,
          name: 'main',
          hash: second,
          upstream: 'origin/main',
          ahead: 1,
          behind: 0,
          subject: 'second',
          current: true,
        },
      ]);
      const all = await branch(runtime, { remotes: true });
      assert.deepEqual(
        all.branches?.map(({ name, remote }) => [name, remote]),
        [
          ['feature/a', false],
          ['main', false],
          ['origin/main', true],
        ],
      );
      repository.git('switch', '--quiet', 'feature/a');
      repository.git('branch', '--delete', '--force', 'main');
      assert.equal((await branch(runtime)).branches?.[0]?.gone, true);
      repository.git('switch', '--quiet', '--detach');
      assert.equal((await branch(runtime)).current, null);
    });
  });

  test('git_branch creates where it is told, does not check out, and replaces only when forced [S0-46] (deep)', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      const first = repository.git('rev-parse', 'HEAD').trim();
      const second = repository.commit({ file: '2' });
      assert.deepEqual(await branch(runtime, { action: 'create', name: 'feature/x' }), {
        current: 'main',
        created: { name: 'feature/x', hash: second },
      });
      assert.deepEqual(
        (await branch(runtime, { action: 'create', name: 'old', start: 'HEAD~1' })).created?.hash,
        first,
      );
      assert.deepEqual(await reasonOf(runtime, { action: 'create', name: 'old' }), ['E_GIT', 'exists']);
      const moved = await branch(runtime, { action: 'create', name: 'old', force: true });
      assert.deepEqual(moved.created, { name: 'old', hash: second, moved_from: first });
      assert.deepEqual(await reasonOf(runtime, { action: 'create', name: 'main', force: true }), [
        'E_GIT',
        'checked_out',
      ]);
      assert.deepEqual(await reasonOf(runtime, { action: 'create' }), ['E_GIT', 'missing_argument']);
      assert.deepEqual(await reasonOf(runtime, { action: 'create', name: 'y', start: 'nosuch' }), [
        'E_GIT',
        'unknown_revision',
      ]);
      assert.equal((await runtime.refused('git_branch', { action: 'create', name: 'feature/x/below' })).code, 'E_GIT');
      const followed = await branch(runtime, { action: 'create', name: 'follower', upstream: 'main' });
      assert.equal(followed.created?.name, 'follower');
      assert.equal(
        repository.git('rev-parse', '--symbolic-full-name', 'follower@{upstream}').trim(),
        'refs/heads/main',
      );
      assert.equal(repository.git('symbolic-ref', 'HEAD').trim(), 'refs/heads/main');
    });
  });

  test('git_branch deletes merged branches and says how to bring them back; unmerged ones only with force [S0-46]', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      const merged = repository.git('rev-parse', 'HEAD').trim();
      repository.git('branch', 'merged');
      repository.git('switch', '--quiet', '--create', 'topic');
      const unmerged = repository.commit({ topic: '1' });
      repository.git('switch', '--quiet', 'main');
      assert.deepEqual((await branch(runtime, { action: 'delete', name: 'merged' })).deleted, {
        name: 'merged',
        hash: merged,
      });
      assert.deepEqual(await reasonOf(runtime, { action: 'delete', name: 'topic' }), ['E_GIT', 'not_merged']);
      assert.equal(repository.git('rev-parse', 'topic').trim(), unmerged);
      const { deleted } = await branch(runtime, { action: 'delete', name: 'topic', force: true });
      assert.deepEqual(deleted, { name: 'topic', hash: unmerged });
      await branch(runtime, { action: 'create', name: 'topic', start: deleted?.hash });
      assert.equal(repository.git('rev-parse', 'topic').trim(), unmerged);
      for (const force of [false, true]) {
        assert.deepEqual(await reasonOf(runtime, { action: 'delete', name: 'main', force }), ['E_GIT', 'checked_out']);
      }
      repository.git('worktree', 'add', '--quiet', '../linked', 'topic');
      assert.deepEqual(await reasonOf(runtime, { action: 'delete', name: 'topic', force: true }), [
        'E_GIT',
        'checked_out',
      ]);
      assert.deepEqual(await reasonOf(runtime, { action: 'delete', name: 'nosuch' }), ['E_GIT', 'unknown_branch']);
    });
  });

  test('git_branch renames, the current branch by default, and sets what a branch follows [S0-46]', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      const hash = repository.git('rev-parse', 'HEAD').trim();
      repository.git('branch', 'other');
      assert.deepEqual(await branch(runtime, { action: 'rename', new_name: 'trunk' }), {
        current: 'trunk',
        renamed: { from: 'main', to: 'trunk', hash },
      });
      assert.deepEqual(await reasonOf(runtime, { action: 'rename', name: 'trunk', new_name: 'other' }), [
        'E_GIT',
        'exists',
      ]);
      assert.deepEqual(await reasonOf(runtime, { action: 'rename', name: 'other', new_name: 'trunk', force: true }), [
        'E_GIT',
        'checked_out',
      ]);
      assert.deepEqual(await reasonOf(runtime, { action: 'rename', name: 'nosuch', new_name: 'x' }), [
        'E_GIT',
        'unknown_branch',
      ]);
      const forced = await branch(runtime, { action: 'rename', name: 'trunk', new_name: 'other', force: true });
      assert.deepEqual(forced.renamed, { from: 'trunk', to: 'other', hash, replaced: hash });
      repository.git('branch', 'base');
      assert.deepEqual((await branch(runtime, { action: 'set_upstream', upstream: 'base' })).tracking, {
        name: 'other',
        upstream: 'base',
      });
      assert.equal((await branch(runtime)).branches?.find(({ current }) => current)?.upstream, 'base');
      for (let count = 0; count < 2; count++)
        await branch(runtime, { action: 'set_upstream', name: 'other', upstream: null });
      assert.equal((await branch(runtime)).branches?.find(({ current }) => current)?.upstream, null);
      assert.deepEqual(await reasonOf(runtime, { action: 'set_upstream', upstream: 'nosuch' }), [
        'E_GIT',
        'unknown_branch',
      ]);
      assert.deepEqual(await reasonOf(runtime, { action: 'set_upstream' }), ['E_GIT', 'missing_argument']);
    });
  });

  test('a session that may only read lists branches and changes none [S0-60]', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository) => {
      const reader = await openGitRuntime(repository, {
        tools,
        registry: 'version: 1\nside_effect_level: read_only\n',
      });
      try {
        assert.equal((await branch(reader)).branches?.length, 1);
        assert.equal((await reader.refused('git_branch', { action: 'create', name: 'x' })).code, 'E_POLICY');
        assert.equal((await reader.refused('git_branch', { action: 'delete', name: 'main' })).code, 'E_POLICY');
      } finally {
        await reader.dispose();
      }
    });
  });

  test('a new name is judged by the naming rule, an old one is not [S0-71]', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository) => {
      const runtime = await openGitRuntime(repository, {
        tools,
        registry: 'version: 1\nvalidators:\n  - { rule: branch.naming.convention, enforcement: blocking }\n',
      });
      try {
        for (const args of [
          { action: 'create', name: 'Bad_Name' },
          { action: 'rename', name: 'main', new_name: 'Bad_Name' },
        ]) {
          const error = await runtime.refused('git_branch', args);
          assert.equal(error.details?.['rule'], 'branch.naming.convention', JSON.stringify(error));
        }
        assert.equal(
          (await branch(runtime, { action: 'create', name: 'feat/good-name' })).created?.name,
          'feat/good-name',
        );
        repository.git('branch', 'Old_Name');
        assert.equal((await branch(runtime, { action: 'delete', name: 'Old_Name' })).deleted?.name, 'Old_Name');
      } finally {
        await runtime.dispose();
      }
    });
  });

  test('git_branch takes no word of a caller for an option, and no name git would not take [S0-46] (deep)', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      const canary = join(repository.folder, 'canary');
      const before = repository.git('for-each-ref');
      for (const word of [
        ...hostileWords(canary),
        'a..b',
        'a b',
        'x.lock',
        '@{-1}',
        '@',
        'HEAD',
        'a~1',
        'a\\b',
        '/a',
        'a/',
      ]) {
        for (const args of [
          { action: 'create', name: word },
          { action: 'create', name: 'x', start: word === 'HEAD' || word === '@' ? '-' : word },
          { action: 'create', name: 'x', upstream: word },
          { action: 'delete', name: word, force: true },
          { action: 'rename', name: word, new_name: 'x' },
          { action: 'rename', name: 'main', new_name: word },
          { action: 'set_upstream', name: 'main', upstream: word },
          { action: 'set_upstream', name: word, upstream: 'main' },
        ]) {
          assert.equal((await runtime.ask('git_branch', args)).ok, false, JSON.stringify(args));
        }
        assert.equal(existsSync(canary), false);
      }
      assert.equal(repository.git('for-each-ref'), before);
      assert.equal(
        (await branch(runtime, { action: 'create', name: 'x', start: 'main', upstream: 'main' })).created?.name,
        'x',
      );
    });
  });
});
