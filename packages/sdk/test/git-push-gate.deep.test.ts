/**
 * What a push publishes is what its remote does not have, by that remote's own word: whatever the references of the
 * repository say, a commit that no rule has judged is judged before it leaves.
 */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { GitRemote } from '../src/contracts/git.ts';
import { createSessionPrograms } from '../src/platform/commands/session-programs.ts';
import { loadRegistry } from '../src/registry/load-registry.ts';
import { commitsSince, publishedAt } from '../src/validation/added-commits.ts';
import {
  createRepository,
  type GitRuntime,
  openGitRuntime,
  openRepository,
  type TestRepository,
} from './git-repository.ts';

const PUSH = 'git: {allow_push: true, allow_force_push: true}\n';
const REGISTRY = `version: 1\nvalidators: [{rule: secrets.scan}]\n${PUSH}`;
const TOKEN = ['ghp', 'Zq3vB8nXk2LwYt7RmPd5HsJc9GfEa1Uo4iKz'].join('_');

interface Scene {
  readonly repository: TestRepository;
  readonly remote: string;
  remoteHas(ref: string): string;
}

/** One commit is published; the next, made past the runtime, holds a secret. */
function createScene(): Scene {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  const remote = addRemote(repository, 'origin');
  repository.git('push', '--quiet', 'origin', 'main');
  repository.commit({ 'secret.txt': `${TOKEN}\n` }, 'feat: secret');
  return {
    repository,
    remote,
    remoteHas: (ref) => repository.git('--git-dir', remote, 'for-each-ref', '--format=%(objectname)', ref).trim(),
  };
}

function addRemote(repository: TestRepository, name: string): string {
  const remote = join(repository.beside, `${name}.git`);
  repository.git('init', '--quiet', '--bare', '--initial-branch=main', remote);
  repository.git('remote', 'add', name, remote);
  return remote;
}

const FORGERIES: Readonly<Record<string, (scene: Scene) => void>> = {
  'a remote-tracking branch moved by hand': ({ repository }) =>
    void repository.git('update-ref', 'refs/remotes/origin/main', 'HEAD'),
  'a remote-tracking branch of a name the remote does not have': ({ repository }) =>
    void repository.git('update-ref', 'refs/remotes/origin/elsewhere', 'HEAD'),
  'a packed one': ({ repository }) => {
    appendFileSync(
      repository.path('.git/packed-refs'),
      `${repository.git('rev-parse', 'HEAD').trim()} refs/remotes/origin/x\n`,
    );
  },
  'another remote that really has the commit': ({ repository }) => {
    addRemote(repository, 'mirror');
    repository.git('push', '--quiet', 'mirror', 'main');
  },
  'a remote whose branches are fetched from the repository itself': ({ repository }) => {
    repository.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
    repository.git('fetch', '--quiet', '.', '+refs/heads/*:refs/remotes/origin/*');
  },
  'an upstream that is the branch itself': ({ repository }) => {
    repository.git('config', 'branch.main.remote', '.');
    repository.git('config', 'branch.main.merge', 'refs/heads/main');
  },
  'a second address for fetching that has the commit': ({ repository, remote }) => {
    const mirror = addRemote(repository, 'mirror');
    repository.git('push', '--quiet', 'mirror', 'main');
    repository.git('config', 'remote.origin.url', mirror);
    repository.git('config', 'remote.origin.pushurl', remote);
  },
  'grafts that cut history off': ({ repository }) => {
    repository.commit({ 'secret.txt': null }, 'fix: gone again');
    const [head, , base] = repository.git('rev-list', 'HEAD').trim().split('\n');
    writeFileSync(repository.path('.git/info/grafts'), `${head} ${base}\n`);
  },
  'a tag of the commit': ({ repository }) => void repository.git('tag', '-m', 'x', 'v1'),
};

async function assertRefused(runtime: GitRuntime, { remoteHas }: Scene, args: object): Promise<void> {
  const before = remoteHas('refs/');
  const error = await runtime.refused('git_push', args);
  assert.deepEqual([error.code, error.details?.['rule']], ['E_VALIDATION_FAIL', 'secrets.scan'], JSON.stringify(error));
  assert.equal(remoteHas('refs/'), before, 'nothing was published');
}

describe('the push gate and forged references [S0-49 S0-67]', () => {
  for (const [forgery, forge] of Object.entries(FORGERIES)) {
    test(`${forgery}: the unjudged commit is refused; without the secret the push goes through`, async () => {
      const scene = createScene();
      const { repository, remoteHas } = scene;
      const runtime = await openGitRuntime(repository, { registry: REGISTRY });
      try {
        forge(scene);
        const refspec = forgery.startsWith('a tag') ? 'v1' : 'HEAD';
        await assertRefused(runtime, scene, { refspec });
        rmSync(repository.path('.git/info/grafts'), { force: true });
        repository.git('reset', '--quiet', '--hard', repository.git('rev-list', '--max-parents=0', 'HEAD').trim());
        const clean = repository.commit({ 'b.txt': 'clean\n' }, 'feat: clean');
        await runtime.call('git_push', { refspec: 'HEAD' });
        assert.equal(remoteHas('refs/heads/main'), clean);
      } finally {
        await runtime.dispose();
        repository.dispose();
      }
    });
  }

  test('another branch than the current one, a bare commit and a tag are judged themselves', async () => {
    const scene = createScene();
    const { repository } = scene;
    const runtime = await openGitRuntime(repository, { registry: REGISTRY });
    try {
      const secret = repository.git('rev-parse', 'HEAD').trim();
      repository.git('branch', 'other');
      repository.git('tag', 'light');
      repository.git('reset', '--quiet', '--hard', 'HEAD~1');
      for (const refspec of [
        'other',
        `${secret}:refs/heads/x`,
        'light',
        'other:refs/tags/y',
        'HEAD@{1}:refs/heads/z',
      ]) {
        await assertRefused(runtime, scene, { refspec });
      }
      const blob = repository.git('rev-parse', 'other:secret.txt').trim();
      for (const refspec of [`${blob}:refs/tags/blob`, 'other^{tree}:refs/tags/tree']) {
        assert.equal((await runtime.refused('git_push', { refspec })).details?.['reason'], 'not_a_commit');
      }
      repository.git('tag', '-m', 'first', 'v0');
      await runtime.call('git_push', { refspec: 'v0' });
      assert.equal(scene.remoteHas('refs/tags/').split('\n').length, 1);
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('a pass that a merge gate gave on the word of a forged reference is worth nothing to a push', async () => {
    const scene = createScene();
    const { repository } = scene;
    const runtime = await openGitRuntime(repository, { registry: REGISTRY });
    try {
      repository.git('branch', 'other', 'HEAD~1');
      repository.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
      await runtime.call('git_merge', { branch: 'other' });
      await assertRefused(runtime, scene, {});
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('a pass belongs to a change: neither the commit below it nor the same tree elsewhere has it', async () => {
    const scene = createScene();
    const { repository } = scene;
    const runtime = await openGitRuntime(repository, { registry: REGISTRY });
    try {
      // On top of the secret, which is not part of this change.
      repository.write({ 'b.txt': 'clean\n' });
      await runtime.call('git_add', { paths: ['b.txt'] });
      await runtime.call('git_commit', { message: 'feat: clean' });
      await assertRefused(runtime, scene, {});
      const tree = repository.git('rev-parse', 'HEAD^{tree}').trim();
      const laundered = repository.git('commit-tree', '-p', 'HEAD~2', '-m', 'x', tree).trim();
      await assertRefused(runtime, scene, { refspec: `${laundered}:refs/heads/main` });
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('a remote that has commits of others: only what is ours is judged, and an old secret there does not matter', async () => {
    const { repository, remote, remoteHas } = createScene();
    const runtime = await openGitRuntime(repository, { registry: REGISTRY });
    try {
      const clone = join(repository.beside, 'clone');
      repository.git('clone', '--quiet', remote, clone);
      const other = openRepository(clone, repository.beside);
      for (const [key, value] of [
        ['user.name', 'x'],
        ['user.email', 'x@example.org'],
      ] as const)
        other.git('config', key, value);
      other.commit({ 'theirs.txt': `${TOKEN}x\n` }, 'feat: theirs');
      other.git('push', '--quiet', 'origin', 'main:theirs', 'main:refs/tags/t');
      repository.git('switch', '--quiet', '-c', 'mine', 'HEAD~1');
      const mine = repository.commit({ 'mine.txt': 'clean\n' }, 'feat: mine');
      await runtime.call('git_push', { refspec: 'mine' });
      assert.equal(remoteHas('refs/heads/mine'), mine);
      await assertRefused(runtime, { repository, remote, remoteHas }, { refspec: 'main:refs/heads/new' });
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });
});

describe('what a push adds, by an oracle in the remote', () => {
  test('is rev-list of the new commit without everything the remote has, for random histories', async (t) => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    const state = mkdtempSync(join(repository.beside, 'state-'));
    const registry = loadRegistry(`version: 1\n${PUSH}`, {
      rules: new Map(),
      tools: undefined,
      engines: new Set<'ast'>(),
      file: 'ops.yaml',
    });
    const programs = createSessionPrograms({
      workspace: repository.folder,
      state,
      registry,
      actor: 'test',
      governing: [],
    });
    t.after(async () => {
      await programs.close();
      repository.dispose();
    });
    const tree = repository.git('rev-parse', 'HEAD^{tree}').trim();
    let made = 0;
    const step = fc.record({
      parents: fc.array(fc.nat(), { maxLength: 2 }),
      isAtRemote: fc.boolean(),
      isForged: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), fc.nat(), async (steps, pick) => {
        const name = `r${made}`;
        const remote = addRemote(repository, name);
        const commits: string[] = [];
        for (const { parents, isAtRemote, isForged } of steps) {
          const chosen = new Set(parents.flatMap((at) => commits[at % commits.length] ?? []));
          const words = [...chosen].flatMap((hash) => ['-p', hash]);
          const hash = repository.git('commit-tree', ...words, '-m', `${made++}`, tree).trim();
          commits.push(hash);
          if (isAtRemote) repository.git('push', '--quiet', remote, `${hash}:refs/heads/b${made}`);
          if (isForged) repository.git('update-ref', `refs/remotes/${name}/f${made}`, hash);
        }
        const tip = commits[pick % commits.length] ?? '';
        const git = programs.git;
        const judged: GitRemote = await git.remote(name, 'push');
        const known = await publishedAt(git, judged, AbortSignal.timeout(60_000));
        const added = (await commitsSince(git, tip, known))?.map(({ hash }) => hash).sort();
        // The oracle lets the objects come in and asks the remote which of them its own branches do not reach.
        repository.git('push', '--quiet', remote, `${tip}:refs/oracle/tip`);
        const oracle = repository.git('--git-dir', remote, 'rev-list', 'refs/oracle/tip', '--not', '--branches');
        assert.deepEqual(added, oracle.split('\n').filter(Boolean).sort());
      }),
      { numRuns: 12, seed: 20261116 },
    );
  });
});
