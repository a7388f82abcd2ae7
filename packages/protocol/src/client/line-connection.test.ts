import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { ModelHost, type ModelSession } from '../../test/model-host.ts';
import { rejection } from '../../test/rejection.ts';
import { SAMPLES } from '../../test/sample-messages.ts';
import { parseClientMessage } from '../envelopes/parse-envelope.ts';
import type { ToolError } from '../primitives/errors.ts';
import { type Line, lineConnection, splitLines } from './line-connection.ts';
import { createToolClient } from './tool-client.ts';

async function serveLines(host: ModelHost, session: ModelSession, socket: Socket): Promise<void> {
  const peer = host.connect((message) => socket.write(`${JSON.stringify(message)}\n`), session);
  for await (const line of splitLines(socket, 1e9)) {
    const parsed = 'text' in line ? parseClientMessage(line.text) : undefined;
    if (parsed?.ok) peer.receive(parsed.message);
  }
  peer.leave();
  socket.end();
}

async function startUnix(context: TestContext, serve: (socket: Socket) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lines-'));
  const path = join(folder, 'host.sock');
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  context.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return path;
}

const ECHO = `
const ack = ${JSON.stringify(SAMPLES.SessionAck)};
console.log(JSON.stringify(ack));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { request_id, tool, args } = JSON.parse(line);
  if (tool === 'exit') return process.exit(3);
  console.log(JSON.stringify({ ...${JSON.stringify(SAMPLES.ToolResponse)}, request_id, tool, data: args }));
});`;

describe('a connection of JSON lines', () => {
  test('carries calls over a Unix socket [S0-10]', async (context) => {
    const host = new ModelHost();
    const session = host.openSession();
    const path = await startUnix(context, (socket) => void serveLines(host, session, socket));
    const socket = connect(path);
    const client = createToolClient(lineConnection({ readable: socket, writable: socket }));
    const calls = Array.from({ length: 50 }, (_, index) => client.call('t', { effect: `${index} ä😀` }));
    assert.deepEqual(
      (await Promise.all(calls)).map(({ data }) => data),
      calls.map((_, index) => ({ effect: `${index} ä😀` })),
    );
    await client.close();
    await new Promise((resolve) => socket.on('close', resolve));
  });

  test('carries calls over the stdio of a child, and rejects them when it exits', async () => {
    const child = spawn(process.execPath, ['-e', ECHO], { stdio: ['pipe', 'pipe', 'inherit'] });
    const client = createToolClient(lineConnection({ readable: child.stdout, writable: child.stdin }));
    const large = 'x'.repeat(200_000);
    assert.deepEqual((await client.call('t', { large })).data, { large });
    assert.equal((await rejection(client.call('exit', {}))).details['reason'], 'connection_closed');
    assert.equal((await rejection(client.call('late', {}))).details['reason'], 'connection_closed');
    await client.close();
  });

  test('drops half a line at the end, and reads a whole one without its newline', async () => {
    const responses = [
      ['{"type":"ToolResp', 'connection_closed'],
      [JSON.stringify({ ...SAMPLES.ToolResponse, request_id: 'id' }), undefined],
    ] as const;
    for (const [rest, reason] of responses) {
      const readable = new PassThrough();
      const errors: ToolError[] = [];
      const client = createToolClient(lineConnection({ readable, writable: { write: () => undefined } }), {
        newId: () => 'id',
        onError: (error) => errors.push(error),
      });
      readable.write(`${JSON.stringify(SAMPLES.SessionAck)}\n`);
      await client.ready();
      const call = client.call('t', {});
      await new Promise((resolve) => setImmediate(resolve));
      readable.end(rest);
      if (reason === undefined) assert.equal((await call).ok, true);
      else assert.equal((await rejection(call)).details['reason'], reason);
      assert.deepEqual(errors, []);
    }
  });

  test('garbage between the messages goes to onError and disturbs nothing', async () => {
    const readable = new PassThrough();
    const errors: ToolError[] = [];
    const client = createToolClient(
      lineConnection({ readable, writable: { write: () => undefined }, maxLineBytes: 1000 }),
      { newId: () => 'id', onError: (error) => errors.push(error) },
    );
    readable.write(`${JSON.stringify(SAMPLES.SessionAck)}\r\n`);
    await client.ready();
    const call = client.call('t', {});
    readable.write(`not json\n\n   \n${'x'.repeat(2000)}\n`);
    readable.write(Buffer.from([0xff, 0xfe, 0x0a]));
    readable.write(`${JSON.stringify({ ...SAMPLES.ToolResponse, request_id: 'id' })}\n`);
    assert.equal((await call).ok, true);
    assert.deepEqual(
      errors.map(({ details }) => details['reason']),
      ['syntax', 'too_large', 'invalid_utf8'],
    );
    await client.close();
  });

  test('waits for a reader that is slow, with the streams of Node and with promises', async () => {
    const pipe = new PassThrough({ highWaterMark: 10 });
    const connection = lineConnection({ readable: new PassThrough(), writable: pipe });
    let isSent = false;
    const sent = Promise.resolve(connection.send(SAMPLES.Heartbeat)).then(() => {
      isSent = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isSent, false);
    pipe.resume();
    await sent;
    const gate = Promise.withResolvers<void>();
    const promised = lineConnection({ readable: new PassThrough(), writable: { write: () => gate.promise } });
    const waiting = Promise.resolve(promised.send(SAMPLES.Heartbeat));
    gate.reject(new TypeError('pipe'));
    await assert.rejects(waiting, /pipe/);
  });

  test('a broken pipe ends the connection and all waits for room, not the program', async () => {
    const pipe = new PassThrough({ highWaterMark: 10 });
    const client = createToolClient(lineConnection({ readable: new PassThrough(), writable: pipe }), {
      sessionId: 's',
    });
    const call = client.call('t', {});
    await new Promise((resolve) => setImmediate(resolve));
    pipe.destroy(new TypeError('EPIPE'));
    assert.equal((await rejection(call)).details['reason'], 'connection_closed');
    assert.equal((await rejection(client.call('t', {}))).details['reason'], 'connection_closed');
  });
});

async function split(chunks: readonly (Uint8Array | string)[], maxBytes = 1000): Promise<Line[]> {
  async function* read() {
    yield* chunks;
  }
  const lines: Line[] = [];
  for await (const line of splitLines(read(), maxBytes)) lines.push(line);
  return lines;
}

/** By itself, so that only the reader still refers to the bytes afterwards. */
async function* begin() {
  const beginning = new Uint8Array(1000).fill(0x61);
  yield beginning;
  return new WeakRef(beginning.buffer);
}

/** Whether the bytes of a line's beginning are still in memory once more of the line has come. */
async function isBeginningKept(maxBytes: number): Promise<boolean> {
  let isKept = true;
  async function* read() {
    const watched = yield* begin();
    yield new Uint8Array(1000).fill(0x62);
    yield new Uint8Array(1000).fill(0x63);
    await nextTurn();
    collectGarbage();
    isKept = watched.deref() !== undefined;
  }
  for await (const line of splitLines(read(), maxBytes)) assert.equal(line.isWhole, false);
  return isKept;
}

/** As a program started with --expose-gc has it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

const whole = (text: string): Line => ({ text, isWhole: true });
const cutOff = (text: string): Line => ({ text, isWhole: false });

describe('splitting bytes into lines', () => {
  test('gives whole lines and marks what is left at the end', async () => {
    assert.deepEqual(await split(['a\nb', 'c\n\n', 'd']), [whole('a'), whole('bc'), whole(''), cutOff('d')]);
    assert.deepEqual(await split([]), [cutOff('')]);
  });

  test('is not disturbed by where the bytes are cut', async () => {
    const text = '{"a":"ä€😀"}\n\n{"b":1}\nrest';
    const bytes = new TextEncoder().encode(text);
    const expected = await split([bytes]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (given) => {
        const places = [0, ...given.toSorted((left, right) => left - right), bytes.length];
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        assert.deepEqual(await split(chunks), expected);
      }),
    );
  });

  test('keeps a line that may still become whole in memory, and nothing of one over the limit', async () => {
    assert.equal(await isBeginningKept(5000), true);
    assert.equal(await isBeginningKept(1500), false);
  });

  test('drops a line over the limit and of bytes that are no UTF-8, and reads on', async () => {
    const bad = new Uint8Array([0x22, 0xff, 0x22, 0x0a]);
    assert.deepEqual(await split(['12345\n123456', '7\n', bad, 'ok\n'], 5), [
      whole('12345'),
      { fault: 'too_large', isWhole: true },
      { fault: 'invalid_utf8', isWhole: true },
      whole('ok'),
      cutOff(''),
    ]);
  });
});
