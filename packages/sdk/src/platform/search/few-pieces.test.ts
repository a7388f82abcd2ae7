import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSpawner } from '../processes/spawner.ts';
import { inFewPieces } from './few-pieces.ts';

/** As a pipe: holds what was written since it was read last. `written`: bytes that come in a millisecond. */
async function* pipeOf(total: number, written: number): AsyncGenerator<Buffer> {
  const began = performance.now();
  for (let read = 0; read < total; ) {
    await new Promise(setImmediate);
    const there = Math.min(total, Math.max(read + 1, Math.floor((performance.now() - began) * written)));
    yield Buffer.alloc(there - read);
    read = there;
  }
}

test('what is written in small pieces is read in few, and all of it', async () => {
  let [pieces, bytes] = [0, 0];
  const began = performance.now();
  for await (const piece of inFewPieces(pipeOf(200_000, 2000))) {
    pieces += 1;
    bytes += piece.length;
  }
  assert.equal(bytes, 200_000);
  // A timer may fire a little early.
  assert.ok(pieces <= 17 + 2 * (performance.now() - began), `${pieces} pieces`);
});

test('a short answer, and one that fills the pipe, is not waited for', async () => {
  async function* source(count: number, size: number): AsyncGenerator<Buffer> {
    for (let piece = 0; piece < count; piece++) yield Buffer.alloc(size);
  }
  const waits = async (pieces: AsyncIterable<Buffer>): Promise<boolean> => {
    let isTurnOver = false;
    setImmediate(() => {
      isTurnOver = true;
    });
    for await (const _ of inFewPieces(pieces));
    return isTurnOver;
  };
  assert.equal(await waits(source(15, 1)), false);
  assert.equal(await waits(source(100, 64 * 1024)), false);
  assert.equal(await waits(source(16, 1)), true);
});

test('a reader that stops ends the source', async () => {
  let isEnded = false;
  async function* source(): AsyncGenerator<Buffer> {
    try {
      for (;;) yield Buffer.alloc(1);
    } finally {
      isEnded = true;
    }
  }
  for await (const _ of inFewPieces(source())) break;
  assert.equal(isEnded, true);
});

test('output on demand arrives whole and is not read ahead', async () => {
  const spawner = createSpawner();
  const script = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "line $i"; done';
  const child = await spawner.spawn({
    ...{ program: '/bin/sh', args: ['-c', script], env: {}, cwd: '/' },
    ...{ stdin: 'null', stdout: 'pipe', stderr: 'null', readsOnDemand: true },
  });
  assert.ok(child.stdout !== undefined);
  if (spawner.backend === 'native') assert.equal(child.stdout.readableHighWaterMark, 1);
  const pieces: Buffer[] = [];
  for await (const piece of inFewPieces(child.stdout)) pieces.push(piece);
  assert.equal(
    Buffer.concat(pieces).toString(),
    Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}\n`).join(''),
  );
  assert.equal((await child.exited).code, 0);
});
