import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { FrameStream } from './frame-stream.ts';

function open(output: Writable) {
  const input = new PassThrough();
  const received: unknown[] = [];
  const ends = { count: 0 };
  const stream = new FrameStream({
    input,
    output,
    receive: (message) => void received.push(message),
    end: () => {
      ends.count += 1;
    },
  });
  stream.open();
  return { input, received, ends, stream };
}

test('FrameStream receives messages however their bytes are cut, and passes over what is no JSON', async () => {
  const { input, received } = open(new PassThrough());
  const bytes = Buffer.from('{"a":"ü"}\nListening on 3000\n\n[1]\r\n2\n');
  for (let at = 0; at < bytes.length; at++) input.write(bytes.subarray(at, at + 1));
  await turn();
  assert.deepEqual(received, [{ a: 'ü' }, [1], 2]);
});

test('FrameStream writes the frames of one turn at once', async () => {
  const chunks: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  const { stream } = open(output);
  for (const frame of ['1', '2', '3']) stream.write(frame);
  await turn();
  stream.write('4');
  await turn();
  assert.deepEqual(chunks, ['1\n2\n3\n', '4\n']);
});

test('FrameStream refuses bytes that are not UTF-8', async () => {
  const output = new PassThrough();
  const { input } = open(output);
  input.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
  await turn();
  assert.deepEqual(JSON.parse(String(output.read())), {
    jsonrpc: '2.0',
    error: { code: -32_700, message: 'Message is not UTF-8' },
  });
});

test('FrameStream stops reading from a side that does not read, and goes on when it does', async () => {
  const waiting: (() => void)[] = [];
  const output = new Writable({
    write(_chunk, _encoding, done) {
      waiting.push(done);
    },
  });
  const { input, received, stream } = open(output);
  stream.write('x'.repeat(2 * 1024 * 1024));
  await turn();
  input.write('1\n');
  await turn();
  assert.deepEqual(received, []);
  waiting.pop()?.();
  while (received.length === 0) await turn();
  assert.deepEqual(received, [1]);
});

test('FrameStream says once that the other side is gone', async () => {
  const output = new PassThrough();
  const { input, ends } = open(output);
  input.end();
  input.resume();
  output.destroy();
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.equal(ends.count, 1);
});
