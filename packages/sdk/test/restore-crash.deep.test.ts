/** git_restore and git_recover killed right before their own system calls: afterwards all files are restored, or none. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createRuntime } from '../src/runtime.ts';
import { readStates } from './commit-crash-scene.ts';
import { createRepository, type TestRepository } from './git-repository.ts';

const CHILD = new URL('./restore-crash-child.ts', import.meta.url).pathname;

interface Restoring {
  readonly tool: string;
  readonly args: object;
  /** Everything before the call that is killed. */
  prepare(repository: TestRepository, state: string): Promise<void>;
}

function plant(): TestRepository {
  return createRepository({
    files: { 'a.txt': 'a\n', 'deep/b.txt': 'b\n', 'deep/c.txt': 'c\n', 'run.sh': { text: 'run\n', mode: 0o755 } },
  });
}

async function calling(workspace: string, state: string, tool: string, args: object): Promise<void> {
  const runtime = await createRuntime({ workspace, state });
  const session = await runtime.openSession({});
  const answer = await session.call(tool, args);
  assert.ok(answer.ok, JSON.stringify(answer.errors));
  await runtime.close();
}

const RESTORE: Restoring = {
  tool: 'git_restore',
  args: { paths: ['.'], staged: true },
  async prepare(repository) {
    repository.write({ 'a.txt': 'edited\n', 'run.sh': 'edited\n', 'new/added.txt': 'added\n' });
    repository.git('add', 'new/added.txt');
    rmSync(join(repository.folder, 'deep'), { recursive: true });
  },
};

const RECOVER: Restoring = {
  tool: 'git_recover',
  args: {},
  async prepare({ folder, write }, state) {
    write({ 'lost/one.txt': 'one\n', 'lost/two.txt': 'two\n', 'lost/three.txt': 'three\n' });
    await calling(folder, state, 'fs_delete', { path: 'lost', recursive: true });
  },
};

/** Git knows no folders: an empty one may be left, or be gone already. */
function treeOf(folder: string): string {
  const states = [...readStates(folder)].filter(([path, { kind }]) => kind !== 'folder' && !/^\.git\//.test(path));
  return JSON.stringify(states.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function killedAt(call: number, { tool, args, prepare }: Restoring) {
  const repository = plant();
  const { folder } = repository;
  const state = `${folder}-state`;
  try {
    await prepare(repository, state);
    const before = treeOf(folder);
    const words = ['-C', 'tool-runtime-source', CHILD, folder, state, String(call), tool, JSON.stringify(args)];
    const { stdout, signal, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    assert.ok(signal === 'SIGKILL' || stdout !== '', stderr);
    const runtime = await createRuntime({ workspace: folder, state });
    const tree = treeOf(folder);
    assert.equal(runtime.unfinishedCommits(), 0);
    await runtime.close();
    return { calls: stdout === '' ? Number.POSITIVE_INFINITY : Number(stdout), before, tree };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(state, { recursive: true, force: true });
  }
}

/** Every third: one run takes a second, and most calls are those of the recovery point. */
const STEP = 3;

async function loop(t: TestContext, restoring: Restoring): Promise<void> {
  const whole = await killedAt(Number.POSITIVE_INFINITY, restoring);
  assert.notEqual(whole.tree, whole.before);
  const outcomes: string[] = [];
  for (let call = 0; call < whole.calls; call += STEP) {
    const { tree } = await killedAt(call, restoring);
    assert.ok(tree === whole.before || tree === whole.tree, `torn before call ${call}: ${tree}`);
    outcomes.push(tree === whole.before ? 'old' : 'new');
  }
  const turn = outcomes.indexOf('new');
  assert.ok(turn > 0 && outcomes.slice(turn).every((one) => one === 'new'), outcomes.join(' '));
  t.diagnostic(`${whole.calls} system calls; whole from ${turn * STEP} on`);
}

test('git_restore of several files is whole or not begun, whenever the process is killed', (t) => loop(t, RESTORE));

test('git_recover of deleted files is whole or not begun, whenever the process is killed', (t) => loop(t, RECOVER));
