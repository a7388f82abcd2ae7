/** Git verbs and governing files of the work tree: the operator's own registry stays, a found one counts by content. */
import assert from 'node:assert/strict';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { trustWorkspaceFiles } from '../src/trust-registry.ts';
import { createRepository, type TestRepository } from './git-repository.ts';

const TEXT = 'version: 1\n';
const WIDE = 'version: 1\nside_effect_level: network\n';

interface Case {
  /** File → branch that changes it: the governing file, or an ordinary one for the twin. */
  prepare?(repository: TestRepository, file: string): void;
  readonly tool: string;
  args(file: string, branch: string): object;
}

/** Whatever can write over a file of the work tree. */
const CASES: Readonly<Record<string, Case>> = {
  checkout: { tool: 'git_checkout', args: (_, target) => ({ target }) },
  merge: { tool: 'git_merge', args: (_, branch) => ({ branch }) },
  rebase: {
    tool: 'git_rebase',
    prepare: (repository) => repository.commit({ 'mine.txt': 'mine\n' }),
    args: (_, onto) => ({ onto }),
  },
  restore: { tool: 'git_restore', args: (file, source) => ({ paths: [file], source }) },
  'stash push': {
    tool: 'git_stash',
    prepare: (repository, file) => repository.write({ [file]: `${TEXT}# edited\n` }),
    args: () => ({ action: 'push' }),
  },
  'stash pop': {
    tool: 'git_stash',
    prepare(repository, file) {
      repository.write({ [file]: `${TEXT}# stashed\n` });
      repository.git('stash', 'push', '--quiet');
    },
    args: () => ({ action: 'pop', index: 0 }),
  },
  abort: {
    tool: 'git_abort',
    prepare(repository, file) {
      repository.git('switch', '--quiet', '--create', 'both', file === 'own.yaml' ? 'side' : 'main');
      repository.commit({ 'other.txt': `${TEXT}# theirs\n` });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'other.txt': `${TEXT}# ours\n` });
      assert.notEqual(repository.gitCode('merge', 'both'), 0);
    },
    args: () => ({}),
  },
};

async function inScene(use: (repository: TestRepository, open: Opener) => Promise<void>): Promise<void> {
  const repository = createRepository({ files: { 'own.yaml': TEXT, 'other.txt': TEXT } });
  const opened: ScratchRuntime[] = [];
  try {
    for (const [branch, file] of [
      ['side', 'own.yaml'],
      ['calm', 'other.txt'],
    ] as const) {
      repository.git('switch', '--quiet', '--create', branch, 'main');
      repository.commit({ [file]: `${TEXT}# ${branch}\n` });
    }
    repository.git('switch', '--quiet', 'main');
    await use(repository, async (registry) => {
      const runtime = await openScratchRuntime({ workspace: repository.folder, registry });
      opened.push(runtime);
      return runtime;
    });
  } finally {
    for (const runtime of opened) await runtime.dispose();
    repository.dispose();
  }
}

type Opener = (registry: string | { readonly file: string; readonly text: string }) => Promise<ScratchRuntime>;

function stateOf(path: string): string {
  const { dev, ino } = lstatSync(path);
  return `${dev}:${ino} ${readFileSync(path, 'utf8')}`;
}

describe("a git verb and the operator's own registry in the work tree", () => {
  for (const [name, { tool, args, prepare }] of Object.entries(CASES)) {
    test(`${name} is refused before anything changes when it would write over it, and works on other files`, () =>
      inScene(async (repository, open) => {
        const own = repository.path('own.yaml');
        prepare?.(repository, 'own.yaml');
        const before = stateOf(own);
        const { session } = await open(own);
        const refused = await session.call(tool, args('own.yaml', 'side'));
        assert.equal(refused.errors[0]?.code, 'E_POLICY', JSON.stringify(refused));
        assert.equal(refused.errors[0]?.details?.['reason'], 'governing_file');
        assert.equal(stateOf(own), before);
      }).then(() =>
        inScene(async (repository, open) => {
          const own = repository.path('own.yaml');
          prepare?.(repository, 'other.txt');
          const before = stateOf(own);
          const { session } = await open(own);
          const done = await session.call(tool, args('other.txt', 'calm'));
          assert.ok(done.ok, JSON.stringify(done.errors));
          assert.equal(stateOf(own), before);
        }),
      ));
  }

  test('going back to a recovery point leaves it alone', () =>
    inScene(async (repository, open) => {
      const own = repository.path('own.yaml');
      const free = await open({ file: 'ops.yaml', text: TEXT });
      repository.write({ 'own.yaml': `${TEXT}# edited\n`, 'other.txt': 'edited\n' });
      assert.ok((await free.session.call('git_restore', { paths: ['.'] })).ok);
      assert.equal(readFileSync(own, 'utf8'), TEXT);
      const governed = await open(own);
      const before = stateOf(own);
      const refused = await governed.session.call('git_recover', {});
      assert.equal(refused.errors[0]?.details?.['reason'], 'governing_file', JSON.stringify(refused));
      assert.equal(stateOf(own), before);
      // The same point can be had where the file does not govern.
      assert.ok((await free.session.call('git_recover', {})).ok);
      assert.equal(readFileSync(own, 'utf8'), `${TEXT}# edited\n`);
    }));

  test('an untracked secret is neither stashed away nor added', () =>
    inScene(async (repository) => {
      repository.write({ 'host.tokens': 'CANARY' });
      const governing = [{ path: repository.path('host.tokens'), access: 'none' as const }];
      const scratch = await openScratchRuntime({ workspace: repository.folder, governing });
      try {
        const refused = await scratch.session.call('git_stash', { action: 'push', include_untracked: true });
        assert.equal(refused.errors[0]?.details?.['reason'], 'governing_file', JSON.stringify(refused));
        assert.equal(readFileSync(repository.path('host.tokens'), 'utf8'), 'CANARY');
        repository.write({ 'other.txt': 'changed\n' });
        const stashed = await scratch.session.call('git_stash', { action: 'push', include_untracked: false });
        assert.ok(stashed.ok, JSON.stringify(stashed.errors));
        await scratch.session.call('git_add', { paths: ['.'] });
        assert.equal(repository.gitCode('grep', '--cached', '-q', 'CANARY'), 1);
      } finally {
        await scratch.dispose();
      }
    }));
});

describe('trust in a registry that came with the repository', () => {
  test('holds for one content: an earlier one that a checkout brings back has to be trusted again, and shows why', async () => {
    const repository = createRepository({ files: { 'tool-runtime.yaml': WIDE } });
    const state = join(repository.beside, 'state');
    const target = { workspace: repository.folder, state };
    const isTrusted = async (): Promise<boolean> => {
      const runtime = await openScratchRuntime({ workspace: repository.folder, state });
      try {
        return runtime.runtime.registry.ceiling.side_effect_level === 'network';
      } finally {
        await runtime.runtime.close();
      }
    };
    try {
      assert.equal(await isTrusted(), false);
      const [first] = await trustWorkspaceFiles(target);
      assert.equal(first?.previous, null);
      assert.match(first?.diff ?? '', /^\+side_effect_level: network$/m);
      assert.equal(await isTrusted(), true);
      const old = repository.git('rev-parse', 'HEAD').trim();
      repository.commit({ 'tool-runtime.yaml': `${WIDE}# narrower: see below\n` });
      assert.equal(await isTrusted(), false);
      const [second] = await trustWorkspaceFiles(target);
      assert.equal(second?.previous, first?.sha256);
      assert.match(second?.diff ?? '', /^\+# narrower/m);
      assert.equal(await isTrusted(), true);
      repository.git('checkout', '--quiet', old);
      assert.equal(await isTrusted(), false);
      const [again] = await trustWorkspaceFiles(target);
      assert.match(again?.diff ?? '', /^-# narrower/m);
      assert.equal(await isTrusted(), true);
    } finally {
      repository.dispose();
    }
  });
});
