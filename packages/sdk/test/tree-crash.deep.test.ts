/**
 * A process killed at random moments while it moves, copies, removes and writes: afterwards every tree is the old one
 * or the new one, and whatever else lies around has a temporary name and is swept.
 *
 * The states between two steps that can be met are listed beside what is checked: they need no repair.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isTemporaryName } from '../src/contracts/path-text.ts';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { createWorkspace } from '../src/platform/files/workspace.ts';
import { NOTES, plantTree, textOf } from './tree-crash-scene.ts';

const CHILD = new URL('./tree-crash-child.ts', import.meta.url).pathname;
const OTHER_DEVICE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const KILLS = 12;
const MAX_DELAY_MS = 120;
const NAMES = ['a', 'b', 'copied', 'copy', 'f', 'far', 'g', 'new', 'note', 'over', 'v0', 'v1'];
const EMPTY = '{}';

function build(directory: string): void {
  for (const name of ['v0', 'copied', 'over', 'a', 'far']) plantTree(join(directory, name), 'v0');
  plantTree(join(directory, 'v1'), 'v1');
  writeFileSync(join(directory, 'f'), 'moved about');
  writeFileSync(join(directory, 'note'), NOTES[0] ?? '');
}

async function runAndKill(directory: string, elsewhere: string, backend: string): Promise<void> {
  const child = spawn(process.execPath, ['-C', 'tool-runtime-source', CHILD, directory, elsewhere, backend], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await wait(Math.random() * MAX_DELAY_MS);
  const over = once(child, 'exit');
  assert.ok(child.kill('SIGKILL'), 'the child ran until it was killed');
  assert.deepEqual(await over, [null, 'SIGKILL']);
}

/** The states of two names as one word each. */
function checkStates(directory: string, elsewhere: string, backend: string): void {
  const versions = new Map([
    [textOf(join(directory, 'v0')), 'v0'],
    [textOf(join(directory, 'v1')), 'v1'],
    [undefined, 'absent'],
    [EMPTY, 'empty'],
    ['moved about', 'file'],
  ]);
  const stateOf = (path: string): string => versions.get(textOf(path)) ?? `torn: ${textOf(path)}`;
  const state = (...names: string[]): string => names.map((name) => stateOf(join(directory, name))).join(' ');
  const isWalk = backend === 'walk';
  const check = (actual: string, allowed: readonly string[], onlyWalk: readonly string[] = []): void => {
    assert.ok([...allowed, ...(isWalk ? onlyWalk : [])].includes(actual), `${backend}: ${actual}`);
  };

  check(state('v0', 'v1'), ['v0 v1']);
  // Without the kernel's flag the new name is made as an empty folder first.
  check(state('a', 'b'), ['v0 absent', 'absent v0'], ['v0 empty', 'empty v0']);
  // Without the flag a file is linked to its new name first.
  check(state('f', 'g'), ['file absent', 'absent file'], ['file file']);
  check(state('copy'), ['absent', 'v0', 'v1'], ['empty']);
  // Without an exchange the old folder is set aside first.
  check(state('copied'), ['v0', 'v1'], ['absent', 'empty']);
  check(
    state('new', 'over'),
    // The last two: exchanged, and the replaced folder not yet set aside.
    ['absent v0', 'absent v1', 'v0 v1', 'v1 v0', 'v0 v0', 'v1 v1'],
    ['v0 absent', 'v1 absent', 'empty v0', 'empty v1', 'v0 empty', 'v1 empty'],
  );
  // Across file systems the source goes last, so for a while there are two.
  check(
    `${state('far')} ${stateOf(join(elsewhere, 'far'))}`,
    ['v0 absent', 'absent v0', 'v0 v0'],
    ['v0 empty', 'empty v0'],
  );
  assert.ok(
    NOTES.some((note) => textOf(join(directory, 'note')) === note.toString()),
    'torn note',
  );
}

async function sweep(directory: string): Promise<number> {
  const leftovers = readdirSync(directory).filter(isTemporaryName);
  const root = openRoot(directory);
  assert.equal(await createWorkspace(root).sweepLeftovers(), leftovers.length);
  root.close();
  assert.deepEqual(
    readdirSync(directory).filter((name) => !NAMES.includes(name)),
    [],
  );
  return leftovers.length;
}

for (const backend of ['openat2', 'walk'] as const) {
  test(`${backend}: killed at any moment, trees are old or new and leftovers are swept [S0-27 S0-28 S0-29 S0-31]`, async (t) => {
    let leftovers = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const base = mkdtempSync(join(tmpdir(), 'tree-crash-'));
      const elsewhere = mkdtempSync(join(OTHER_DEVICE, 'tree-crash-'));
      t.after(() => {
        for (const path of [base, elsewhere]) rmSync(path, { recursive: true, force: true });
      });
      const directory = join(base, 'workspace');
      mkdirSync(directory);
      build(directory);
      await runAndKill(directory, elsewhere, backend);
      checkStates(directory, elsewhere, backend);
      leftovers += (await sweep(directory)) + (await sweep(elsewhere));
    }
    t.diagnostic(`${leftovers} leftovers after ${KILLS} kills`);
    assert.notEqual(leftovers, 0, 'no kill hit the middle of an operation');
  });
}
