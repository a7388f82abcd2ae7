import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createRuntime } from './runtime.ts';
import { openScratchRuntime } from './testing/scratch-runtime.ts';
import { revokeWorkspaceRegistry, trustWorkspaceRegistry } from './trust-registry.ts';

async function withFolders(use: (workspace: string, state: string) => Promise<void>): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-runtime-'));
  const workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
  try {
    await use(workspace, join(scratch, 'state'));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const FULL = { text: 'version: 1\ndurability: full\n', file: 'r.yaml' };

describe('option approvals', () => {
  const registry = { text: 'version: 1\napprovals: { require_approval: [file_write] }\n', file: 'r.yaml' };
  const yes = async () => ({ answer: 'approved' as const, by: 'a test' });

  for (const [form, approvals] of [
    ['a function', yes],
    ['an object with ask', { ask: yes }],
  ] as const) {
    test(`${form} is asked`, () =>
      withFolders(async (workspace, state) => {
        const runtime = await createRuntime({ workspace, state, registry, approvals });
        const session = await runtime.openSession();
        const answer = await session.call('file_write', { path: 'a', content: 'x' });
        assert.equal(answer.ok, true, JSON.stringify(answer.errors));
        await runtime.close();
      }));
  }

  test('anything else is refused at once, and nothing is left open', () =>
    withFolders(async (workspace, state) => {
      for (const approvals of [true, 'yes', {}, { ask: 'x' }, null]) {
        const opening = createRuntime({ workspace, state, registry, approvals: approvals as never });
        await assert.rejects(opening, { code: 'E_VALIDATION_FAIL', path: 'approvals' });
      }
      assert.deepEqual(readdirSync(join(workspace, '..')), ['workspace']);
    }));
});

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe('durability', () => {
  test('is the stronger of option and registry [S1-40]', () =>
    withFolders(async (workspace, state) => {
      for (const [options, level] of [
        [{}, 'normal'],
        [{ durability: 'full' }, 'full'],
        [{ registry: FULL }, 'full'],
        [{ registry: FULL, durability: 'normal' }, 'full'],
      ] as const) {
        const runtime = await createRuntime({ workspace, state, ...options });
        assert.equal(runtime.registry.durability, level, JSON.stringify(options));
        await runtime.close();
      }
    }));

  test('a session that needs full is refused by a runtime that runs with normal [S1-40]', () =>
    withFolders(async (workspace, state) => {
      const normal = await createRuntime({ workspace, state });
      await assert.rejects(normal.openSession({ registry: FULL }), {
        code: 'E_POLICY',
        details: {
          gate: 'registry',
          kind: 'policy_denial',
          retry: 'not_retryable',
          reason: 'durability_not_offered',
          next: 'Have the operator start the runtime with --durability full, or take the key out',
        },
      });
      await normal.close();
      const full = await createRuntime({ workspace, state, durability: 'full' });
      await full.openSession({ registry: FULL });
      await full.close();
    }));
});

describe('createRuntime', () => {
  test('takes the registry of the workspace at its word only while exactly its content is trusted [S0-23]', () =>
    withFolders(async (workspace, state) => {
      const file = join(workspace, 'tool-runtime.yaml');
      writeFileSync(file, "\ufeffversion: 1\nshell_allow: ['^ls$']\n");
      const level = async (): Promise<string | undefined> => {
        const runtime = await createRuntime({ workspace, state });
        await runtime.close();
        return runtime.registry.ceiling.side_effect_level;
      };
      assert.equal(await level(), 'workspace_write');
      await trustWorkspaceRegistry({ workspace, state });
      assert.equal(await level(), 'process_exec');
      writeFileSync(file, "version: 1\nshell_allow: ['^ls$', '^cat ']\n");
      assert.equal(await level(), 'workspace_write');
      await trustWorkspaceRegistry({ workspace, state });
      assert.equal(await revokeWorkspaceRegistry({ workspace, state }), true);
      assert.equal(await level(), 'workspace_write');
    }));

  test('a broken registry stops it with every line named, and leaves nothing open [S0-17 S0-25]', () =>
    withFolders(async (workspace, state) => {
      const registry = { file: 'ops.yaml', text: 'version: 2\nnonsense: 1\nshell_allow: ["("]\n' };
      await assert.rejects(createRuntime({ workspace, state, registry }), (error: Error) => {
        assert.match(error.message, /ops\.yaml:1.*ops\.yaml:2.*ops\.yaml:3/s);
        return true;
      });
      const before = openDescriptors();
      for (let round = 0; round < 5; round++) {
        await assert.rejects(createRuntime({ workspace, state, registry }));
      }
      assert.equal(openDescriptors(), before);
    }));

  test('a workspace that is not there, and a state folder inside the workspace, are refused in words', () =>
    withFolders(async (workspace, state) => {
      await assert.rejects(createRuntime({ workspace: join(workspace, 'none'), state }), { name: 'ToolError' });
      await assert.rejects(createRuntime({ workspace, state: join(workspace, 'state') }), { name: 'ToolError' });
    }));

  test('4.35 extra roots come from the host alone and keep their access [S0-15]', () =>
    withFolders(async (outside) => {
      writeFileSync(join(outside, 'book.txt'), 'outside');
      const extraRoots = [{ name: 'library', path: outside, access: 'read' }] as const;
      const { session, dispose } = await openScratchRuntime({ extraRoots });
      const read = await session.call('file_read', { path: '@library/book.txt' });
      assert.equal((read.data as { content: string }).content, 'outside');
      const write = await session.call('file_write', { path: '@library/book.txt', content: 'x' });
      assert.equal(write.errors[0]?.code, 'E_POLICY');
      const escaped = await session.call('file_read', { path: '@library/../../etc/passwd' });
      assert.equal(escaped.errors[0]?.code, 'E_POLICY');
      const plain = await openScratchRuntime();
      assert.equal((await plain.session.call('file_read', { path: '@library/book.txt' })).ok, false);
      await plain.dispose();
      await dispose();
    }));

  test('moves old records into an archive, reads them there, and keeps answers of keys until told otherwise [S1-41 S1-43]', async () => {
    const { runtime, session, state, workspace, dispose } = await openScratchRuntime();
    writeFileSync(join(workspace, 'a'), 'first');
    const keyed = async () => {
      const { data } = await session.call('file_read', { path: 'a' }, { idempotencyKey: 'k' });
      return (data as { content: string }).content;
    };
    assert.equal(await keyed(), 'first');
    writeFileSync(join(workspace, 'a'), 'second');
    const before = [...runtime.records()];
    const head = runtime.head();
    const { archives, records } = await runtime.rotateJournal({ keepRecords: 0 });
    assert.equal(records, before.length);
    assert.ok(archives.every((name) => readdirSync(state).includes(name)));
    assert.deepEqual([...runtime.records({ archived: true })].slice(0, records), before);
    assert.equal(runtime.verify(head, { archives: true }).ok, true);
    await runtime.pruneJournal({ keepArchives: 0 });
    assert.equal(await keyed(), 'first');
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal((await runtime.pruneJournal({ answersOlderThanMs: 0 })).answers, 1);
    assert.equal(await keyed(), 'second');
    await dispose();
  });

  test('closing ends sessions and gives every descriptor back', async () => {
    const first = await openScratchRuntime();
    await first.dispose();
    const before = openDescriptors();
    const { session, dispose } = await openScratchRuntime();
    await session.call('file_write', { path: 'a', content: 'x' });
    await dispose();
    assert.equal(openDescriptors(), before);
    await assert.rejects(session.call('file_read', { path: 'a' }), { code: 'E_POLICY' });
  });
});
