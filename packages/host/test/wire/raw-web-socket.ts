/** WebSocket frames written and read by hand (RFC 6455), right and wrong ones alike. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { type RawAnswer, readAnswer, writeHead } from './raw-http.ts';
import { type Address, openSocket, type RawSocket } from './raw-socket.ts';

export const OPCODES = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly isFinal: boolean;
  readonly opcode: number;
  readonly payload: Buffer;
}

export interface FrameOptions {
  readonly opcode?: number;
  readonly isFinal?: boolean;
  /** Clients must; one that does not is refused. */
  readonly isMasked?: boolean;
  readonly reservedBits?: number;
  /** Stated instead of the real one. */
  readonly length?: number;
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export function writeFrame(payload: string | Uint8Array, options: FrameOptions = {}): Buffer {
  const { opcode = OPCODES.text, isFinal = true, isMasked = true, reservedBits = 0 } = options;
  const content = Buffer.from(payload);
  const head = Buffer.concat([
    Buffer.of((isFinal ? 0x80 : 0) | (reservedBits << 4) | opcode),
    writeLength(options.length ?? content.length, isMasked ? 0x80 : 0),
  ]);
  if (!isMasked) return Buffer.concat([head, content]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, unmask(content, mask)]);
}

function writeLength(length: number, flag: number): Buffer {
  if (length < 126) return Buffer.of(flag | length);
  if (length < 65_536) return Buffer.of(flag | 126, length >> 8, length & 0xff);
  const bytes = Buffer.alloc(9);
  bytes[0] = flag | 127;
  bytes.writeBigUInt64BE(BigInt(length), 1);
  return bytes;
}

function unmask(content: Buffer, mask: Buffer): Buffer {
  return Buffer.from(content.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
}

/** Frames of a server are never masked. */
export function takeFrame(bytes: Buffer): readonly [Frame, number] | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  assert.ok((second & 0x80) === 0, 'a server must not mask');
  const [length, start] = readLength(bytes, second & 0x7f) ?? [Number.POSITIVE_INFINITY, 0];
  const end = start + length;
  if (bytes.length < end) return undefined;
  return [{ isFinal: (first & 0x80) !== 0, opcode: first & 0x0f, payload: bytes.subarray(start, end) }, end];
}

function readLength(bytes: Buffer, short: number): readonly [number, number] | undefined {
  if (short < 126) return [short, 2];
  const start = short === 126 ? 4 : 10;
  if (bytes.length < start) return undefined;
  return [short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)), start];
}

export interface Upgrade {
  readonly target?: string;
  readonly host?: string;
  readonly token?: string;
  readonly headers?: readonly string[];
}

/** Asks for the upgrade; the answer may be a refusal. */
export async function upgrade(
  address: Address,
  { target = '/v1/ws', host = 'localhost', token, headers = [] }: Upgrade,
): Promise<{ readonly socket: RawSocket; readonly answer: RawAnswer }> {
  const socket = await openSocket(address);
  const key = randomBytes(16).toString('base64');
  const own = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`];
  socket.write(writeHead({ target, host, ...(token === undefined ? {} : { token }), headers: [...own, ...headers] }));
  const answer = await readAnswer(socket);
  if (answer.status === 101) {
    const proof = createHash('sha1').update(`${key}${GUID}`).digest('base64');
    assert.equal(answer.headers.get('sec-websocket-accept'), proof);
  }
  return { socket, answer };
}

export function nextFrame(socket: RawSocket): Promise<Frame> {
  return socket.next(takeFrame, 'a frame');
}

/** The next frame that is no ping; those are answered. */
export async function nextAfterPings(socket: RawSocket): Promise<Frame> {
  for (;;) {
    const frame = await nextFrame(socket);
    if (frame.opcode !== OPCODES.ping) return frame;
    socket.write(writeFrame(frame.payload, { opcode: OPCODES.pong }));
  }
}

/** The code of the close frame, after whatever comes before it. */
export async function readCloseCode(socket: RawSocket): Promise<number> {
  for (;;) {
    const frame = await nextAfterPings(socket);
    if (frame.opcode === OPCODES.close) return frame.payload.length < 2 ? 1005 : frame.payload.readUInt16BE(0);
  }
}
