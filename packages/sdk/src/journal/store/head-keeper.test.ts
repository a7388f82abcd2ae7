import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogSync } from '../../platform/state/log-sync.ts';
import type { MarkFiles } from '../../platform/state/mark-files.ts';
import { createHeadKeeper } from './head-keeper.ts';

/** A disk whose syncs end when the test says so. */
function slowDisk() {
  const waiting: (() => void)[] = [];
  const closed: string[] = [];
  const log: LogSync = {
    now: () => {},
    later: () => new Promise((resolve) => waiting.push(resolve)),
    close: () => closed.push('log'),
  };
  const mark = { write: () => {}, sync: async () => {}, syncNow: () => {}, close: () => closed.push('mark') };
  const files: MarkFiles = { read: () => [], create: () => mark, remove: () => {}, rename: () => {} };
  return { waiting, closed, log, files };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await nextTurn();
}

test('writes during a slow sync start no second one, and the files are closed once', async () => {
  const disk = slowDisk();
  const head = { seq: 1, hash: 'a' } as never;
  const keeper = createHeadKeeper({
    ...disk,
    format: { write: () => 'mark' } as never,
    writer: { id: 'one' } as never,
    durability: 'normal',
    clock: { now: () => 0, monotonic: () => 0 },
    everyMs: 0,
  });
  keeper.before({ head, catchUp: () => head } as never);
  keeper.after();
  await until(() => disk.waiting.length === 1);
  keeper.after();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.equal(disk.waiting.length, 1, 'one sync at a time');

  disk.waiting.shift()?.();
  await until(() => disk.waiting.length === 1);
  keeper.settle();
  keeper.finish();
  assert.deepEqual(disk.closed, [], 'a sync is under way');
  disk.waiting.shift()?.();
  await until(() => disk.closed.length > 0);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.deepEqual(disk.closed, ['mark', 'log']);
});
