/** WebSocket frames that are too large, broken or never end. Each ends its connection and nothing else. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openHost, type TestHost, TOKENS } from '../open-host.ts';
import { addressOf, type RawSocket } from '../wire/raw-socket.ts';
import { nextFrame, OPCODES, readCloseCode, upgrade, writeFrame } from '../wire/raw-web-socket.ts';
import { eventually } from '../wire/within.ts';

const MAX_BYTES = 16 * 1024;
let host: TestHost;
before(async () => {
  host = await openHost({ registryText: `version: 1\nlimits: {max_request_bytes: ${MAX_BYTES}}\n` });
});
after(() => host[Symbol.asyncDispose]());

interface Opened {
  readonly socket: RawSocket;
  readonly sessionId: string;
}

async function open(): Promise<Opened> {
  const { socket, answer } = await upgrade(addressOf(host.url), {
    host: new URL(host.url).host,
    token: TOKENS.caller,
  });
  assert.equal(answer.status, 101);
  const ack = JSON.parse((await nextFrame(socket)).payload.toString('utf8')) as { session_id: string };
  return { socket, sessionId: ack.session_id };
}

function read(sessionId: string): string {
  return JSON.stringify({
    type: 'ToolRequest',
    tool: 'file_read',
    args: { path: 'hello.txt' },
    request_id: 'r1',
    session_id: sessionId,
    timestamp: 1,
  });
}

async function isAnswered(): Promise<boolean> {
  const { socket, sessionId } = await open();
  socket.write(writeFrame(read(sessionId)));
  const { type, ok } = JSON.parse((await nextFrame(socket)).payload.toString('utf8')) as { type: string; ok: boolean };
  socket.cut();
  return type === 'ToolResponse' && ok;
}

const TEXT = Buffer.from(JSON.stringify({ type: 'Heartbeat' }));
const more = { opcode: OPCODES.more, isFinal: false };

const BROKEN: Readonly<Record<string, readonly [number, () => readonly Buffer[]]>> = {
  'a frame that says it is enormous': [1009, () => [writeFrame('', { length: 2 ** 40 })]],
  'a frame that says it is larger than numbers': [
    1009,
    () => [writeFrame('', { length: Number.MAX_SAFE_INTEGER * 4 })],
  ],
  'a frame that is larger than twice the limit': [1009, () => [writeFrame(Buffer.alloc(2 * MAX_BYTES + 1, 0x20))]],
  'fragments that are larger together': [
    1009,
    () => [
      writeFrame('"', { isFinal: false }),
      ...Array.from({ length: 40 }, () => writeFrame('x'.repeat(1000), more)),
    ],
  ],
  'fragments of a byte without end': [
    1008,
    () => [writeFrame('"', { isFinal: false }), ...Array.from({ length: 20_000 }, () => writeFrame('x', more))],
  ],
  'bytes that are no UTF-8': [1007, () => [writeFrame(Buffer.of(0x22, 0xc3, 0x28, 0x22))]],
  'half a character at the end': [1007, () => [writeFrame(Buffer.of(0x22, 0xe2, 0x82))]],
  'a frame without a mask': [1002, () => [writeFrame(TEXT, { isMasked: false })]],
  'reserved bits': [1002, () => [writeFrame(TEXT, { reservedBits: 4 })]],
  'compression nobody agreed to': [1002, () => [writeFrame(TEXT, { reservedBits: 4, isFinal: false })]],
  'an unknown opcode': [1002, () => [writeFrame(TEXT, { opcode: 3 })]],
  'an unknown control opcode': [1002, () => [writeFrame('', { opcode: 11 })]],
  'a continuation of nothing': [1002, () => [writeFrame(TEXT, { opcode: OPCODES.more })]],
  'a second beginning': [1002, () => [writeFrame('{', { isFinal: false }), writeFrame('}')]],
  'a ping in pieces': [1002, () => [writeFrame('', { opcode: OPCODES.ping, isFinal: false })]],
  'a ping that is too long': [1002, () => [writeFrame(Buffer.alloc(126), { opcode: OPCODES.ping })]],
  'a goodbye of one byte': [1002, () => [writeFrame(Buffer.of(3), { opcode: OPCODES.close })]],
  'a goodbye with a code that is none': [1002, () => [writeFrame(Buffer.of(0x03, 0xed), { opcode: OPCODES.close })]],
  'binary frames': [1003, () => [writeFrame(TEXT, { opcode: OPCODES.binary })]],
};

describe('frames', () => {
  for (const [what, [code, write]] of Object.entries(BROKEN)) {
    test(`end the connection with ${code}: ${what}`, async () => {
      const { socket } = await open();
      for (const frame of write()) socket.write(frame);
      assert.equal(await readCloseCode(socket), code);
      await socket.ended;
      socket.cut();
      assert.ok(await isAnswered());
    });
  }

  test('in pieces that end are put together, with a ping in between', async () => {
    const { socket, sessionId } = await open();
    const text = read(sessionId);
    socket.write(writeFrame(text.slice(0, 10), { isFinal: false }));
    socket.write(writeFrame('are you there', { opcode: OPCODES.ping }));
    socket.write(writeFrame(text.slice(10, 20), more));
    socket.write(writeFrame(text.slice(20), { opcode: OPCODES.more }));
    const pong = await nextFrame(socket);
    assert.deepEqual([pong.opcode, String(pong.payload)], [OPCODES.pong, 'are you there']);
    const answer = JSON.parse(String((await nextFrame(socket)).payload)) as { ok: boolean };
    assert.equal(answer.ok, true);
    socket.cut();
  });

  test('that never end are not waited for: the connection counts no more once it is cut', async () => {
    const opened = await Promise.all(Array.from({ length: 20 }, open));
    for (const { socket } of opened) {
      socket.write(writeFrame('"', { isFinal: false }));
      socket.write(writeFrame('x'.repeat(MAX_BYTES), more));
    }
    assert.ok(await isAnswered());
    for (const { socket } of opened) socket.cut();
    await eventually(() => host.host.status().connections === 0, 'no connections');
  });
});
