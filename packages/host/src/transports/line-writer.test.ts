import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { describe, test } from 'node:test';
import { LineWriter } from './line-writer.ts';

/** Takes one chunk at a time, when told to. */
function createSlowReader() {
  const taken: string[] = [];
  let release: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: 4,
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      release = done;
    },
  });
  return { stream, taken, take: () => release?.() };
}

describe('LineWriter', () => {
  test('writes one line for each text and needs no wait while the reader keeps up', async () => {
    const stream = new PassThrough();
    const writer = new LineWriter(stream);
    writer.write('a');
    writer.write('b');
    assert.equal(writer.ready(), undefined);
    const flushed = writer.flush();
    assert.equal(String(stream.read()), 'a\nb\n');
    await flushed;
  });

  test('sends together what is written together', async () => {
    const batches: number[] = [];
    const stream = new Writable({
      writev(chunks, done) {
        batches.push(chunks.length);
        done();
      },
    });
    const writer = new LineWriter(stream);
    for (const line of ['a', 'b', 'c']) writer.write(line);
    await new Promise(setImmediate);
    for (const line of ['d', 'e']) writer.write(line);
    await writer.flush();
    assert.deepEqual(batches, [3, 2, 1], 'the last one is the end of the flush');
  });

  test('writes long lines without a copy, in their order', async () => {
    const taken: string[] = [];
    const stream = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        taken.push(String(chunk));
        done();
      },
    });
    const writer = new LineWriter(stream);
    const [long, longer] = ['x'.repeat(20_000), 'y'.repeat(100_000)];
    for (const line of ['a', long, 'b', longer]) writer.write(line);
    await writer.flush();
    assert.deepEqual(taken, ['a\n', long, '\n', 'b\n', longer, '\n', '']);
  });

  test('waits for a slow reader', async () => {
    const reader = createSlowReader();
    const writer = new LineWriter(reader.stream);
    writer.write('12345');
    const ready = writer.ready();
    assert.ok(ready instanceof Promise);
    await new Promise(setImmediate);
    reader.take();
    await ready;
    assert.equal(writer.ready(), undefined);
    assert.deepEqual(reader.taken, ['12345\n']);
  });

  test('stops waiting, says so and writes no more when the reader is gone', async () => {
    const reader = createSlowReader();
    let told = 0;
    const writer = new LineWriter(reader.stream, () => {
      told += 1;
    });
    writer.write('12345');
    const waits = [writer.ready(), writer.flush()];
    assert.equal(writer.isGone, false);
    reader.stream.destroy(new TypeError('reader left'));
    await Promise.all(waits);
    writer.write('more');
    assert.deepEqual([writer.isGone, told, reader.taken], [true, 1, ['12345\n']]);
    assert.equal(writer.ready(), undefined);
    await writer.flush();
  });

  test('gives nothing more to a stream that failed and lives on, as that of a process does', async () => {
    const stream = new Writable({
      autoDestroy: false,
      write: (_chunk, _encoding, done) => done(new TypeError('gone')),
    });
    const writer = new LineWriter(stream);
    writer.write('lost');
    await writer.flush();
    assert.deepEqual([writer.isGone, stream.destroyed], [true, false]);
    const held = stream.writableLength;
    writer.write('more');
    assert.equal(stream.writableLength, held);
  });

  test('knows a stream that was gone before', async () => {
    const stream = new PassThrough();
    stream.destroy();
    assert.equal(new LineWriter(stream).isGone, true);
  });

  test('leaves no listener behind but the one for late errors', () => {
    const stream = new PassThrough();
    const before = ['drain', 'close'].map((name) => stream.listenerCount(name));
    const writer = new LineWriter(stream);
    writer.release();
    assert.deepEqual(
      ['drain', 'close'].map((name) => stream.listenerCount(name)),
      before,
    );
    stream.destroy(new TypeError('late'));
  });
});
