import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { writePieces } from './export-records.ts';

function* endless(count: { pulled: number }, most: number): Generator<string> {
  while (count.pulled < most) {
    count.pulled += 1;
    yield 'x'.repeat(32 * 1024);
  }
}

/** Takes one piece, then another whenever it is told to. */
function slowReader() {
  let next = (): void => {};
  const reader = new Writable({
    write(_chunk, _encoding, done) {
      next = done;
    },
  });
  return { reader, takeOne: () => next() };
}

test('an export waits for a slow reader and leaves no listeners behind', async () => {
  const { reader, takeOne } = slowReader();
  const count = { pulled: 0 };
  const writing = writePieces(reader, endless(count, 40));
  let most = 0;
  while (count.pulled < 40) {
    most = Math.max(most, reader.listenerCount('close'), reader.listenerCount('drain'));
    takeOne();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const finished = once(reader, 'finish');
  while (!reader.writableFinished) {
    takeOne();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([writing, finished]);
  assert.ok(most <= 2, `${most} listeners`);
});

test('an export ends with its reader', async () => {
  const { reader } = slowReader();
  const count = { pulled: 0 };
  const writing = writePieces(reader, endless(count, 1000));
  await new Promise((resolve) => setImmediate(resolve));
  reader.destroy();
  await writing;
  assert.ok(count.pulled < 10, `${count.pulled} pieces were made for no reader`);
});
