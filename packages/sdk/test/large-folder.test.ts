/**
 * A folder with a hundred times more names than a turn of the event loop may handle. Counted are entries, not time: how many of
 * them Node or the kernel passes on between two turns.
 */
import assert from 'node:assert/strict';
import { closeSync, Dir, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createDirectoryReader, SLICE_ENTRIES } from '../src/platform/descriptors/directory-reader.ts';
import { loadNativeCalls } from '../src/platform/descriptors/native-calls.ts';
import { sortedNames } from '../src/platform/search/file-tree.ts';
import { createRuntime, type Runtime } from '../src/runtime.ts';
import type { Session } from '../src/session/session.ts';

const NAMES = 100_000;
/** A slice may begin in the turn in which the one before has ended. */
const MOST = 3 * SLICE_ENTRIES;

const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const root = mkdtempSync(join(base, 'large-folder-'));
const workspace = join(root, 'workspace');
let runtime: Runtime;
let session: Session;

/** Counts what `use` reads of directories in one turn, at most. */
async function largestStep(use: () => Promise<unknown>): Promise<number> {
  const counter = { now: 0, largest: 0, isOver: false };
  const count = (entries: number): void => {
    counter.now += entries;
    counter.largest = Math.max(counter.largest, counter.now);
  };
  const undo = watchNode(count);
  const turns = (async () => {
    for (; !counter.isOver; await turn()) counter.now = 0;
  })();
  try {
    await use();
  } finally {
    counter.isOver = true;
    undo();
    await turns;
  }
  return counter.largest;
}

/** Both ways of Node to read a directory without a promise. */
function watchNode(count: (entries: number) => void): () => void {
  const fs = process.getBuiltinModule('node:fs');
  const { readdirSync } = fs;
  const { readSync } = Dir.prototype;
  fs.readdirSync = ((...args: Parameters<typeof readdirSync>) => {
    const found = readdirSync(...args);
    count(found.length);
    return found;
  }) as typeof readdirSync;
  Dir.prototype.readSync = function read(this: Dir) {
    count(1);
    return readSync.call(this);
  };
  syncBuiltinESMExports();
  return () => {
    fs.readdirSync = readdirSync;
    Dir.prototype.readSync = readSync;
    syncBuiltinESMExports();
  };
}

before(async () => {
  mkdirSync(join(workspace, 'large'), { recursive: true });
  for (let at = 0; at < NAMES; at++) closeSync(openSync(join(workspace, 'large', `name-${at}`), 'w'));
  writeFileSync(join(workspace, 'one.txt'), 'one');
  runtime = await createRuntime({ workspace, state: join(root, 'state') });
  session = await runtime.openSession();
});

after(async () => {
  await runtime.close();
  rmSync(root, { recursive: true, force: true });
});

describe('calls in a folder with very many names', () => {
  const CALLS: readonly (readonly [string, object])[] = [
    ['file_write', { path: 'large/written.txt', content: 'x' }],
    ['fs_copy', { from: 'one.txt', to: 'large/copied.txt' }],
    ['fs_move', { from: 'large/copied.txt', to: 'large/moved.txt' }],
    ['fs_move', { from: 'large/name-1', to: 'large/name-2', overwrite: true }],
    ['fs_delete', { path: 'large/moved.txt' }],
    ['fs_list', { glob: 'large/*', max_results: 10 }],
    ['fs_stat', { path: 'large/name-2' }],
    ['fs_tree', { path: 'large', max_entries: 10 }],
    ['grep', { pattern: 'one', glob: 'large/name-1*', max_results: 1 }],
  ];
  for (const [tool, args] of CALLS) {
    test(`${tool} ${JSON.stringify(args)} reads no more of it in one turn than a slice`, async () => {
      let answer: { readonly ok: boolean; readonly errors: readonly unknown[] } | undefined;
      const largest = await largestStep(async () => {
        answer = await session.call(tool, args);
      });
      assert.ok(answer?.ok, JSON.stringify(answer?.errors));
      assert.ok(largest <= MOST, `${largest} entries in one turn`);
    });
  }

  test('a folder that is not empty is counted in slices', async () => {
    const largest = await largestStep(async () => {
      assert.equal((await session.call('fs_delete', { path: 'large' })).ok, false);
    });
    assert.ok(largest <= MOST, `${largest} entries in one turn`);
  });
});

test('the native reader reads no more than a slice in one turn', async (t) => {
  const native = loadNativeCalls();
  if (native === undefined) return t.diagnostic('no native calls on this machine: the reader above is used');
  let [reads, largest] = [0, 0];
  const reader = createDirectoryReader({
    ...native,
    readDirectory(fd, records) {
      reads += 1;
      largest = Math.max(largest, reads);
      return native.readDirectory(fd, records);
    },
  });
  let isOver = false;
  const turns = (async () => {
    for (; !isOver; await turn()) reads = 0;
  })();
  const fd = openSync(join(workspace, 'large'), 'r');
  const names = await reader(fd);
  isOver = true;
  await turns;
  closeSync(fd);
  assert.ok(names.length >= NAMES - 10);
  // 64 KiB hold some two thousand of these names.
  assert.ok(largest <= 3, `${largest} reads of 64 KiB in one turn`);
});

test('names are sorted in slices, and as sort does it', async () => {
  const names = Array.from({ length: 50_000 }, (_, at) => `n${(at * 7919) % 50_021}`);
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; await turn()) turns += 1;
  })();
  const sorted = await sortedNames(names, (name) => !name.endsWith('7'));
  isOver = true;
  await counting;
  assert.deepEqual(sorted, names.filter((name) => !name.endsWith('7')).toSorted());
  assert.ok(turns >= names.length / 4096, `${turns} turns`);
});
