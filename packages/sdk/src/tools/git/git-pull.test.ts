import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startGitHttpServer } from '../../../test/git-http-server.ts';
import {
  createRepository,
  type GitRuntime,
  hostileWords,
  openGitRuntime,
  openRepository,
  type TestRepository,
} from '../../../test/git-repository.ts';

interface Pulled {
  readonly pulled: boolean;
  readonly up_to_date: boolean;
  readonly head: string;
  readonly upstream: string;
  readonly conflicts: readonly string[];
  readonly recovery?: string;
}

const OPEN = 'version: 1\ngit:\n  allow_push: true\n';

async function withClone(
  use: (scene: { origin: TestRepository; clone: TestRepository; runtime: GitRuntime }) => Promise<void>,
): Promise<void> {
  const origin = createRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n' } });
  const folder = join(origin.beside, 'clone');
  origin.git('clone', '--quiet', origin.folder, folder);
  const clone = openRepository(folder, origin.beside);
  clone.git('config', 'user.name', 'Ada Tester');
  clone.git('config', 'user.email', 'ada@example.org');
  const runtime = await openGitRuntime(clone, { registry: OPEN });
  try {
    await use({ origin, clone, runtime });
  } finally {
    await runtime.dispose();
    origin.dispose();
  }
}

describe('git_pull [S0-50]', () => {
  test('moves forward, and says when there is nothing to bring in [S0-50] (deep)', () =>
    withClone(async ({ origin, clone, runtime }) => {
      const head = origin.commit({ 'a.txt': 'two\n' });
      const done = await runtime.call<Pulled>('git_pull', { remote: 'origin' });
      assert.deepEqual([done.pulled, done.up_to_date, done.head], [true, false, head]);
      assert.equal(clone.git('rev-parse', 'HEAD').trim(), head);
      assert.equal((await runtime.call<Pulled>('git_pull')).up_to_date, true);
    }));

  test('puts own commits on top, or merges when told to [S0-50] (deep)', () =>
    withClone(async ({ origin, clone, runtime }) => {
      const theirs = origin.commit({ 'a.txt': 'theirs\n' }, 'feat: theirs');
      clone.commit({ 'b.txt': 'ours\n' }, 'feat: ours');
      await runtime.call('git_pull', { rebase: true });
      assert.deepEqual(clone.git('log', '--format=%s', '-2').trim().split('\n'), ['feat: ours', 'feat: theirs']);
      assert.equal(clone.git('rev-parse', 'HEAD~1').trim(), theirs);
      origin.commit({ 'a.txt': 'more\n' }, 'feat: more');
      await runtime.call('git_pull', { rebase: false });
      assert.equal(clone.git('log', '-1', '--format=%P').trim().split(' ').length, 2);
    }));

  test('4.19 a conflict: a rebase is taken back, a merge stays under way [S0-50] (deep)', () =>
    withClone(async ({ origin, clone, runtime }) => {
      origin.commit({ 'a.txt': 'theirs\n' }, 'feat: theirs');
      const ours = clone.commit({ 'a.txt': 'ours\n' }, 'feat: ours');
      const error = await runtime.refused('git_pull');
      assert.equal(error.code, 'E_GIT');
      assert.deepEqual(error.details?.['conflicts'], ['a.txt']);
      assert.equal(clone.git('rev-parse', 'HEAD').trim(), ours);
      assert.equal(clone.git('status', '--porcelain'), '');
      const merged = await runtime.call<Pulled>('git_pull', { rebase: false });
      assert.deepEqual([merged.pulled, merged.conflicts], [false, ['a.txt']]);
      assert.equal(clone.gitCode('rev-parse', '-q', '--verify', 'MERGE_HEAD'), 0);
      await runtime.call('git_abort');
      assert.equal(clone.git('status', '--porcelain'), '');
    }));

  test('4.15 refuses a tree with changes, staged or not, and passes over untracked files [S0-50] (deep)', () =>
    withClone(async ({ origin, clone, runtime }) => {
      origin.commit({ 'a.txt': 'two\n' });
      clone.write({ 'b.txt': 'changed\n' });
      for (const stage of [() => {}, () => void clone.git('add', 'b.txt')]) {
        stage();
        const error = await runtime.refused('git_pull');
        assert.equal(error.details?.['rule'], 'sec.git.clean_tree');
      }
      clone.git('reset', '-q', '--hard');
      clone.write({ 'new.txt': 'mine\n' });
      await runtime.call('git_pull');
      assert.equal(clone.git('status', '--porcelain'), '?? new.txt\n');
    }));

  test('over HTTP from an allowed host [S0-50] (deep)', async () => {
    const origin = createRepository({ files: { 'a.txt': 'one\n' } });
    origin.git('clone', '--quiet', '--bare', origin.folder, join(origin.beside, 'remote.git'));
    const folder = join(origin.beside, 'clone');
    origin.git('clone', '--quiet', origin.folder, folder);
    const server = await startGitHttpServer({ root: origin.beside });
    const clone = openRepository(folder, origin.beside);
    clone.git('remote', 'set-url', 'origin', server.url('remote.git'));
    const head = origin.commit({ 'a.txt': 'two\n' });
    origin.git('push', '-q', join(origin.beside, 'remote.git'), 'main');
    const registry = `version: 1\nnetwork:\n  allowed_domains: ['${server.host}']\n`;
    const runtime = await openGitRuntime(clone, { registry });
    try {
      assert.equal((await runtime.call<Pulled>('git_pull')).head, head);
    } finally {
      await runtime.dispose();
      await server.close();
      origin.dispose();
    }
  });

  test('detached, unknown at the remote, and hostile names are clear errors [S0-50] (deep)', () =>
    withClone(async ({ origin, clone, runtime }) => {
      const canary = join(origin.beside, 'canary');
      for (const remote of hostileWords(canary)) assert.equal((await runtime.ask('git_pull', { remote })).ok, false);
      assert.ok(!existsSync(canary));
      clone.git('switch', '-q', '-c', 'mine');
      assert.equal((await runtime.refused('git_pull')).details?.['reason'], 'no_counterpart');
      clone.git('switch', '-q', '--detach');
      assert.equal((await runtime.refused('git_pull')).details?.['reason'], 'detached');
    }));

  test('without the operator it is not even offered [S0-50]', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    const runtime = await openGitRuntime(repository);
    try {
      assert.equal((await runtime.refused('git_pull')).code, 'E_POLICY');
      assert.ok(runtime.session.tools().every(({ name }) => name !== 'git_pull'));
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });
});
