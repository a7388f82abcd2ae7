import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startGitHttpServer } from '../../../test/git-http-server.ts';
import { createRepository, hostileWords, openGitRuntime, openRepository } from '../../../test/git-repository.ts';

interface Fetched {
  readonly fetched: boolean;
  readonly updated: readonly { ref: string; from: string | null; to: string | null }[];
}

const OPEN = 'version: 1\ngit:\n  allow_push: true\n';

/** A clone whose origin has moved on. */
function clonedPair() {
  const origin = createRepository({ files: { 'a.txt': 'one\n' } });
  const folder = join(origin.beside, 'clone');
  origin.git('clone', '--quiet', origin.folder, folder);
  const clone = openRepository(folder, origin.beside);
  clone.git('config', 'user.name', 'Ada Tester');
  clone.git('config', 'user.email', 'ada@example.org');
  return { origin, clone };
}

describe('git_fetch', () => {
  test('brings new commits and branches into remote-tracking references only [S0-50] (deep)', async () => {
    const { origin, clone } = clonedPair();
    const runtime = await openGitRuntime(clone, { registry: OPEN });
    try {
      const before = clone.git('rev-parse', 'refs/remotes/origin/main').trim();
      const moved = origin.commit({ 'a.txt': 'two\n' });
      origin.git('branch', 'side');
      const { updated } = await runtime.call<Fetched>('git_fetch');
      assert.deepEqual(updated, [
        { ref: 'refs/remotes/origin/main', from: before, to: moved },
        { ref: 'refs/remotes/origin/side', from: null, to: moved },
      ]);
      assert.equal(clone.git('rev-parse', 'HEAD').trim(), before, 'no local branch moved');
      origin.git('branch', '-D', 'side');
      const pruned = await runtime.call<Fetched>('git_fetch', { prune: true });
      assert.deepEqual(pruned.updated, [{ ref: 'refs/remotes/origin/side', from: moved, to: null }]);
    } finally {
      await runtime.dispose();
      origin.dispose();
    }
  });

  test('a configured refspec that would overwrite local branches is not used [S0-51] (deep)', async () => {
    const { origin, clone } = clonedPair();
    const runtime = await openGitRuntime(clone, { registry: OPEN });
    try {
      clone.git('switch', '-q', '-c', 'mine');
      clone.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/heads/*');
      const mine = clone.git('rev-parse', 'main').trim();
      origin.commit({ 'a.txt': 'two\n' });
      await runtime.call('git_fetch');
      assert.equal(clone.git('rev-parse', 'main').trim(), mine);
    } finally {
      await runtime.dispose();
      origin.dispose();
    }
  });

  test('over HTTP from an allowed host; a local remote outside needs the operator [S0-51] (deep)', async () => {
    const { origin, clone } = clonedPair();
    origin.git('clone', '--quiet', '--bare', origin.folder, join(origin.beside, 'remote.git'));
    const server = await startGitHttpServer({ root: origin.beside });
    const registry = `version: 1\nnetwork:\n  allowed_domains: ['${server.host}']\n`;
    const runtime = await openGitRuntime(clone, { registry });
    try {
      const refusal = await runtime.refused('git_fetch');
      assert.equal(refusal.details?.['reason'], 'outside_workspace');
      clone.git('remote', 'set-url', 'origin', server.url('remote.git'));
      clone.git('update-ref', '-d', 'refs/remotes/origin/main');
      const { updated } = await runtime.call<Fetched>('git_fetch');
      assert.deepEqual(
        updated.map(({ ref }) => ref),
        ['refs/remotes/origin/main'],
      );
    } finally {
      await runtime.dispose();
      await server.close();
      origin.dispose();
    }
  });

  test('no remote name becomes an option, and an unknown one lists those there are [S0-51]', async () => {
    const { origin, clone } = clonedPair();
    const canary = join(origin.beside, 'canary');
    const runtime = await openGitRuntime(clone, { registry: OPEN });
    try {
      for (const remote of [...hostileWords(canary), origin.folder, `file://${origin.folder}`]) {
        assert.equal((await runtime.ask('git_fetch', { remote })).ok, false, remote);
      }
      const error = await runtime.refused('git_fetch', { remote: 'upstream' });
      assert.match(String(error.details?.['next']), /origin/);
      assert.ok(!existsSync(canary));
    } finally {
      await runtime.dispose();
      origin.dispose();
    }
  });
});
