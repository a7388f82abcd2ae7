/**
 * An attacker swaps folders for links to outside while trees are listed, moved, copied and removed.
 *
 * The obvious way (check the real path, then let Node copy or remove) is run first and must lose, which proves that the
 * attack is real on this machine. Swapped are a folder on the way to the operands, one inside the source, and one inside
 * what is being replaced and removed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { createWorkspace, type FileWorkspace } from '../src/platform/files/workspace.ts';

const CANARY = 'canary outside';
const MAX_NAIVE_ROUNDS = 200_000;
const ROUNDS = 4000;
const CHECK_EVERY = 7;
const MAX_ROUNDS = 100_000;
/** A refusal is quick and proves little, so every operation has to get through so often. */
const MIN_DONE = 100;

/** Exchanges each pair over and over, in one step where it can; stops when its input ends. */
const ATTACKER = `
  import { closeSync, openSync, renameSync } from 'node:fs';
  const [platform, fleeting, ...directories] = process.argv.slice(1);
  const { loadNativeCalls } = await import(platform + 'descriptors/native-calls.ts');
  const native = loadNativeCalls();
  const swaps = directories.map((directory) => {
    if (!native) return () => {
      try { renameSync(directory + '/folder', directory + '/spare'); } catch {}
      try { renameSync(directory + '/trap', directory + '/folder'); } catch {}
      try { renameSync(directory + '/spare', directory + '/trap'); } catch {}
    };
    const dirFd = openSync(directory, 'r');
    return () => native.rename({ dirFd, name: 'folder' }, { dirFd, name: 'trap' }, 2);
  });
  // A folder that comes and goes is held while it is there, so it is swapped in while it is being removed.
  if (native) swaps.push(() => {
    let dirFd;
    try { dirFd = openSync(fleeting, 'r'); } catch { return; }
    for (let round = 0; round < 50; round++) native.rename({ dirFd, name: 'folder' }, { dirFd, name: 'trap' }, 2);
    closeSync(dirFd);
  });
  let isOver = false;
  process.stdin.on('end', () => { isOver = true; }).resume();
  process.stdout.write('ready');
  while (!isOver) {
    for (let round = 0; round < 300; round++) for (const swap of swaps) swap();
    await new Promise(setImmediate);
  }`;

interface Arena {
  readonly inside: string;
  readonly outside: string;
  readonly attacker: ChildProcess;
}

/** `inside/folder` and `inside/tree/folder` are swapped for links to the folder outside. */
async function arena(t: TestContext): Promise<Arena> {
  const base = mkdtempSync(join(tmpdir(), 'tree-race-'));
  const [inside, outside] = [join(base, 'inside'), join(base, 'outside')];
  mkdirSync(join(outside, 'deep'), { recursive: true });
  writeFileSync(join(outside, 'deep/file'), CANARY);
  for (const [place, target] of [
    [inside, '../outside'],
    [join(inside, 'tree'), '../../outside'],
  ] as const) {
    mkdirSync(join(place, 'folder/deep'), { recursive: true });
    writeFileSync(join(place, 'folder/deep/file'), 'inside');
    symlinkSync(target, join(place, 'trap'));
  }
  const attacker = await attack([join(inside, 'tree-copy'), inside, join(inside, 'tree')]);
  t.after(async () => {
    const over = once(attacker, 'exit');
    attacker.stdin?.end();
    await over;
    rmSync(base, { recursive: true, force: true });
  });
  return { inside, outside, attacker };
}

async function attack(places: readonly string[]): Promise<ChildProcess> {
  const platform = new URL('../src/platform/', import.meta.url).href;
  const attacker = spawn(
    process.execPath,
    ['-C', 'tool-runtime-source', '--input-type=module', '-e', ATTACKER, platform, ...places],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  assert.ok(attacker.stdout);
  await once(attacker.stdout, 'data');
  return attacker;
}

/** Looking has to be safe from the swaps too, so the attacker stands still meanwhile. */
function whileHalted(attacker: ChildProcess, look: () => void): void {
  attacker.kill('SIGSTOP');
  while (!/^\d+ \(.*\) T /.test(readFileSync(`/proc/${attacker.pid}/stat`, 'utf8')));
  try {
    look();
  } finally {
    attacker.kill('SIGCONT');
  }
}

/** Whether bytes from outside lie anywhere inside, found without following links. */
function holdsCanary(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return readdirSync(path).some((name) => holdsCanary(join(path, name)));
  return stat?.isFile() === true && readFileSync(path, 'utf8') === CANARY;
}

function checkBorder(inside: string, outside: string): void {
  assert.ok(!holdsCanary(inside), 'something from outside lies inside');
  assert.deepEqual(readdirSync(outside), ['deep']);
  assert.deepEqual(readdirSync(join(outside, 'deep')), ['file']);
  assert.equal(readFileSync(join(outside, 'deep/file'), 'utf8'), CANARY);
}

function naively(action: () => void): void {
  try {
    action();
  } catch {
    // Mid-swap there may be nothing to work on.
  }
}

test('checking the real path and then copying loses the race [S0-34]', async (t) => {
  const { inside } = await arena(t);
  const [from, to] = [join(inside, 'folder/deep'), join(inside, 'stolen')];
  let isStolen = false;
  for (let round = 0; round < MAX_NAIVE_ROUNDS && !isStolen; round++) {
    naively(() => {
      if (realpathSync.native(from).startsWith(`${inside}/`)) cpSync(from, to, { recursive: true });
    });
    isStolen = holdsCanary(to);
  }
  assert.ok(isStolen);
});

test('checking the real path and then removing loses the race [S0-34]', async (t) => {
  const { inside, outside } = await arena(t);
  const victim = join(outside, 'deep/victim');
  const path = join(inside, 'folder/deep/victim');
  let isLost = false;
  for (let round = 0; round < MAX_NAIVE_ROUNDS && !isLost; round++) {
    writeFileSync(victim, '');
    naively(() => {
      if (realpathSync.native(join(path, '..')).startsWith(`${inside}/`)) rmSync(path, { recursive: true });
    });
    isLost = lstatSync(victim, { throwIfNoEntry: false }) === undefined;
  }
  assert.ok(isLost);
});

const OVER = { overwrite: true, preserveMode: true } as const;
const ALL = { recursive: true } as const;

/** Whatever an operation answers, it may neither touch the outside nor bring anything in. */
const OPERATIONS: Record<string, (workspace: FileWorkspace) => unknown> = {
  'readDirectory through': async (workspace) => {
    const items = await workspace.readDirectory('folder/deep');
    assert.ok(
      items.every(({ name }) => name === 'file' || name.startsWith('copy')),
      JSON.stringify(items),
    );
  },
  'copy through': (workspace) => workspace.copy('folder/deep', 'copy', OVER),
  'copy of the swapped': (workspace) => workspace.copy('tree', 'tree-copy', OVER),
  'remove of the swapped': (workspace) => workspace.remove('tree-copy', ALL),
  'copy into': (workspace) => workspace.copy('tree', 'folder/deep/copy', OVER),
  'move into': async (workspace) => {
    await workspace.copy('tree', 'moving', OVER);
    await workspace.move('moving', 'folder/deep/copy-moved', OVER);
  },
  'move out': async (workspace) => {
    // The way back may have been refused last time.
    if ((await workspace.stat('moved')) === null) await workspace.move('folder/deep/file', 'moved', OVER);
    await workspace.move('moved', 'folder/deep/file', OVER);
  },
  'makeDirectory in': (workspace) => workspace.makeDirectory('folder/deep/copy-folder/x/y'),
  'remove through': (workspace) => workspace.remove('folder/deep/copy', ALL),
};

for (const backend of ['openat2', 'walk'] as const) {
  test(`${backend} never reaches outside while folders are swapped [S0-27 S0-28 S0-29 S0-34]`, async (t) => {
    const { inside, outside, attacker } = await arena(t);
    const root = openRoot(inside, { backend });
    t.after(root.close);
    const workspace = createWorkspace(root);
    const answers = new Map<string, number>();
    const names = Object.keys(OPERATIONS);
    const isEnough = (): boolean => names.every((name) => (answers.get(`${name} done`) ?? 0) >= MIN_DONE);
    for (let round = 0; round < MAX_ROUNDS && (round < ROUNDS || !isEnough()); round++) {
      const name = names[round % names.length] ?? '';
      const answer = await answerOf(() => OPERATIONS[name]?.(workspace));
      answers.set(`${name} ${answer}`, (answers.get(`${name} ${answer}`) ?? 0) + 1);
      if (round % CHECK_EVERY === 0) whileHalted(attacker, () => checkBorder(inside, outside));
    }
    whileHalted(attacker, () => checkBorder(inside, outside));
    t.diagnostic(JSON.stringify(Object.fromEntries([...answers].sort())));
    // Both sides of the swap were met, so the race was on.
    assert.ok(isEnough() && answers.has('copy through E_POLICY'));
  });
}

async function answerOf(action: () => unknown): Promise<string> {
  try {
    await action();
    return 'done';
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    assert.ok(['E_POLICY', 'E_FILE_IO'].includes(thrown.code), thrown.message);
    return thrown.code;
  }
}
