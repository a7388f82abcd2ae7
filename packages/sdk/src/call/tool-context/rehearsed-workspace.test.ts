import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { filesOf } from '../../../test/git-state.ts';
import type { ExpectedChange } from '../../contracts/rehearsal.ts';
import type { Workspace } from '../../contracts/workspace.ts';
import { openRoot } from '../../platform/descriptors/root.ts';
import { createWorkspace } from '../../platform/files/workspace.ts';
import { readPath } from './read-path.ts';
import { rehearsedWorkspace } from './rehearsed-workspace.ts';

async function withFiles(use: (workspace: Workspace, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-rehearsal-'));
  for (const [name, text] of Object.entries({ a: 'one', b: 'two', 'd/a': 'one', 'd/e/c': 'three', 'f/x': 'four' })) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  chmodSync(join(folder, 'b'), 0o750);
  mkdirSync(join(folder, 'empty'));
  symlinkSync('a', join(folder, 'link'));
  const root = openRoot(folder, { backend: 'auto' });
  const workspace = createWorkspace(root);
  try {
    await use(workspace, folder);
  } finally {
    workspace.close();
    root.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const name = fc.constantFrom('a', 'b', 'd', 'd/a', 'd/e', 'f', 'empty', 'link', 'new', 'd/new');
const flag = fc.boolean();
const bytes = fc.constantFrom('', 'one', 'new').map((text) => Buffer.from(text));

type Operation = (workspace: Workspace) => unknown;

const operation: fc.Arbitrary<{ readonly words: string; readonly run: Operation }> = fc.oneof(
  fc
    .record({ path: name, bytes, exclusive: flag, forceMode: flag, mode: fc.constantFrom(0o644, 0o600) })
    .map(({ path, bytes: content, ...options }) => ({
      words: `write ${path} ${JSON.stringify(options)}`,
      run: (workspace: Workspace) => workspace.writeFile(path, content, options),
    })),
  name.map((path) => ({ words: `removeFile ${path}`, run: (workspace: Workspace) => workspace.removeFile(path) })),
  fc.record({ path: name, recursive: flag }).map(({ path, recursive }) => ({
    words: `remove ${path} ${recursive}`,
    run: (workspace: Workspace) => workspace.remove(path, { recursive }),
  })),
  fc.record({ from: name, to: name, overwrite: flag }).map(({ from, to, overwrite }) => ({
    words: `move ${from} ${to} ${overwrite}`,
    run: (workspace: Workspace) => workspace.move(from, to, { overwrite }),
  })),
  fc.record({ from: name, to: name, overwrite: flag, preserveMode: flag }).map(({ from, to, ...options }) => ({
    words: `copy ${from} ${to} ${JSON.stringify(options)}`,
    run: (workspace: Workspace) => workspace.copy(from, to, options),
  })),
);

async function outcome(work: () => unknown): Promise<{ readonly value?: unknown; readonly error?: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

/** The part of an answer that tools pass on. */
function figures(value: unknown): unknown {
  const { entries, bytes: size, before, after } = (value ?? {}) as Record<string, { sha256?: unknown } | undefined>;
  return { isNull: value === null, entries, size, before: before?.sha256, after: after?.sha256 };
}

describe('rehearsedWorkspace', () => {
  test('foresees what the real workspace does, and changes nothing itself (deep)', async () => {
    let foreseen = 0;
    await fc.assert(
      fc.asyncProperty(operation, ({ words, run }) =>
        withFiles(async (workspace, folder) => {
          const changes: ExpectedChange[] = [];
          const found = filesOf(folder);
          const rehearsed = await outcome(() => run(rehearsedWorkspace(workspace, (change) => changes.push(change))));
          assert.deepEqual(filesOf(folder), found, words);
          for (const { subject, before } of changes) {
            assert.equal((await readPath(workspace, subject.slice(5))).exact, before, words);
          }
          const real = await outcome(() => run(workspace));
          // A rehearsal may give up where the call succeeds, and the call may fail for reasons of its own.
          if (rehearsed.error !== undefined || real.error !== undefined) return;
          foreseen += 1;
          for (const { subject, after } of changes) {
            assert.equal((await readPath(workspace, subject.slice(5))).content, after, `${words} ${subject}`);
          }
          assert.deepEqual(figures(rehearsed.value), figures(real.value), words);
        }),
      ),
      { seed: 72, numRuns: 200 },
    );
    assert.ok(foreseen > 50, String(foreseen));
  });

  test('gives up where a path is changed twice, one way or another', () =>
    withFiles(async (workspace) => {
      const rehearsal = rehearsedWorkspace(workspace, () => {});
      await rehearsal.writeFile('d/a', Buffer.from('x'));
      for (const path of ['d/a', './d//a', 'd']) {
        await assert.rejects(async () => rehearsal.remove(path, { recursive: true }), /cannot be foreseen/);
      }
      await rehearsal.writeFile('b', Buffer.from('x'));
    }));
});
