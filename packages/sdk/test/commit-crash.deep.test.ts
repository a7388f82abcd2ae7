/**
 * A commit killed right before each of its system calls: afterwards the tree is the old one or the new one, and nothing
 * is left.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRedoLog } from '../src/platform/commit/redo-log.ts';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { createWorkspace } from '../src/platform/files/workspace.ts';
import { createUnfinishedFolders } from '../src/platform/state/unfinished-folders.ts';
import { afterAll, movedChanges, plantScene, readStates, sceneChanges } from './commit-crash-scene.ts';

const CHILD = new URL('./commit-crash-child.ts', import.meta.url).pathname;

async function killedAt(
  call: number,
  backend: string,
  what: 'commit' | 'move' = 'commit',
): Promise<{ calls: number; outcome: string }> {
  const base = mkdtempSync(join(tmpdir(), 'commit-crash-'));
  try {
    const [workspace, state] = [join(base, 'workspace'), join(base, 'state')];
    mkdirSync(workspace);
    mkdirSync(state, { mode: 0o700 });
    plantScene(workspace);
    const before = readStates(workspace);
    const planted = mkdtempSync(join(base, 'planted-'));
    const changes = [...sceneChanges(workspace), ...movedChanges(workspace, planted)];
    const after = what === 'move' ? moved(before) : afterAll(before, changes);
    const words = ['-C', 'tool-runtime-source', CHILD, workspace, state, backend, String(call), what];
    const { stdout, signal, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    assert.ok(signal === 'SIGKILL' || stdout !== '', stderr);
    await recover(workspace, state);
    const found = readStates(workspace);
    const isOld = sameTree(found, before);
    if (!isOld) assert.deepEqual(sorted(found), sorted(after), `torn before call ${call}`);
    if (existsSync(join(state, 'commits'))) assert.deepEqual(readdirSync(join(state, 'commits')), []);
    return { calls: stdout === '' ? Infinity : Number(stdout), outcome: isOld ? 'old' : 'new' };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** The folder `gone` under another name. */
function moved(before: ReturnType<typeof readStates>): ReturnType<typeof readStates> {
  return new Map([...before].map(([path, state]) => [path.replace(/^gone(?=$|\/)/, 'kept/moved'), state]));
}

/** What the next start does. */
async function recover(workspace: string, state: string): Promise<void> {
  const unfinished = createUnfinishedFolders();
  unfinished.keepIn(state);
  const root = openRoot(workspace, { noteFolder: unfinished.note });
  await createRedoLog(state).workOff({ noteFolder: unfinished.note });
  await createWorkspace(root, { unfinished }).sweepNoted();
  unfinished.close();
  root.close();
}

function sorted(states: ReturnType<typeof readStates>): unknown {
  return [...states].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function sameTree(one: ReturnType<typeof readStates>, other: ReturnType<typeof readStates>): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

for (const backend of ['openat2', 'walk'] as const) {
  test(`${backend}: a commit killed before any of its system calls is whole or not begun, and nothing is left`, async (t) => {
    const { calls, outcome } = await killedAt(Infinity, backend);
    assert.equal(outcome, 'new', 'a commit that is not killed goes through');
    assert.ok(calls > 50);
    const outcomes: string[] = [];
    for (let call = 0; call < calls; call++) outcomes.push((await killedAt(call, backend)).outcome);
    const turn = outcomes.indexOf('new');
    assert.ok(turn > 0 && outcomes.slice(turn).every((one) => one === 'new'), outcomes.join(' '));
    t.diagnostic(`${calls} system calls; whole from ${turn} on`);
  });
}

test('a folder that is moved is at one of its names, whole, whenever the process is killed', async () => {
  const { calls, outcome } = await killedAt(Infinity, 'openat2', 'move');
  assert.equal(outcome, 'new');
  assert.ok(calls > 3);
  for (let call = 0; call < calls; call++) await killedAt(call, 'openat2', 'move');
});
