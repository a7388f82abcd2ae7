import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { FrameTransport } from './frame-transport.ts';

function open(output: Writable) {
  const input = new PassThrough();
  const received: unknown[] = [];
  const ends = { count: 0 };
  const transport = new FrameTransport(input, output);
  transport.onmessage = (message) => void received.push(message);
  transport.onclose = () => {
    ends.count += 1;
  };
  void transport.start();
  const write = (value: unknown): void => void transport.send(value as JSONRPCMessage);
  return { input, received, ends, transport, write };
}

test('FrameTransport receives messages however their bytes are cut, and passes over what is no JSON', async () => {
  const { input, received } = open(new PassThrough());
  const bytes = Buffer.from('{"a":"ü"}\nListening on 3000\n\n[1]\r\n2\n');
  for (let at = 0; at < bytes.length; at++) input.write(bytes.subarray(at, at + 1));
  await turn();
  assert.deepEqual(received, [{ a: 'ü' }, [1], 2]);
});

test('FrameTransport writes the frames of one turn at once', async () => {
  const chunks: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  const { write } = open(output);
  for (const message of [1, 2, 3]) write(message);
  await turn();
  write(4);
  await turn();
  assert.deepEqual(chunks, ['1\n2\n3\n', '4\n']);
});

test('FrameTransport refuses bytes that are not UTF-8', async () => {
  const output = new PassThrough();
  const { input } = open(output);
  input.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
  await turn();
  assert.deepEqual(JSON.parse(String(output.read())), {
    jsonrpc: '2.0',
    error: { code: -32_700, message: 'Message is not UTF-8' },
  });
});

test('FrameTransport stops reading from a side that does not read, and goes on when it does', async () => {
  const waiting: (() => void)[] = [];
  const output = new Writable({
    write(_chunk, _encoding, done) {
      waiting.push(done);
    },
  });
  const { input, received, write } = open(output);
  write('x'.repeat(2 * 1024 * 1024));
  await turn();
  input.write('1\n');
  await turn();
  assert.deepEqual(received, []);
  while (received.length === 0) {
    waiting.pop()?.();
    await turn();
  }
  assert.deepEqual(received, [1]);
});

test('FrameTransport says once that the other side is gone', async () => {
  const output = new PassThrough();
  const { input, ends } = open(output);
  input.end();
  input.resume();
  output.destroy();
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.equal(ends.count, 1);
});

test('FrameTransport ends after the last answer when its input has ended', async () => {
  const output = new PassThrough();
  const { input, ends, write, transport } = open(output);
  input.write('{"id":1,"method":"a"}\n{"method":"note"}\n{"id":2,"method":"b"}\n{"id":3,"method":"c"}\n');
  input.end('{"method":"notifications/cancelled","params":{"requestId":3}}\n');
  await once(input, 'end');
  write({ id: 1, result: {} });
  write({ id: 'mine', method: 'question' });
  for (let turns = 0; turns < 5; turns++) await turn();
  assert.equal(ends.count, 0);
  write({ id: 2, result: {} });
  await transport.ended;
  assert.equal(ends.count, 1);
  assert.equal(String(output.read()).split('\n').length, 4);
});

test('FrameTransport waits for a last answer only so long, and not for one that cannot be written', async () => {
  const late = open(new PassThrough());
  late.input.end('{"id":1,"method":"a"}\n');
  await late.transport.ended;
  assert.equal(late.ends.count, 1);
  const output = new PassThrough();
  const unread = open(output);
  output.destroy();
  unread.input.end('{"id":1,"method":"a"}\n');
  await unread.transport.ended;
  assert.equal(unread.ends.count, 1);
});

test('FrameTransport hands plain calls to the shorter way, but never past a message that came before', async () => {
  const { input, received, transport } = open(new PassThrough());
  const taken: unknown[] = [];
  transport.onplaincall = (message) => {
    if (typeof message !== 'number') return false;
    taken.push(message);
    return true;
  };
  input.write('1\n2\n"other"\n3\n');
  assert.deepEqual(
    [taken, received],
    [
      [1, 2],
      ['other', 3],
    ],
  );
  await turn();
  input.write('4\n');
  assert.deepEqual(
    [taken, received],
    [
      [1, 2, 4],
      ['other', 3],
    ],
  );
});
