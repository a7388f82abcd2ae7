/** HTTP/1.1 written and read by hand, so that a test decides about every byte. */
import type { JsonObject } from '@tool-runtime/protocol';
import { type Address, openSocket, type RawSocket } from './raw-socket.ts';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  json(): JsonObject;
}

export interface RawRequest {
  readonly method?: string;
  readonly target: string;
  readonly host?: string;
  readonly token?: string;
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** Exactly the head a decent client would send; `headers` are lines of their own. */
export function writeHead({
  method = 'GET',
  target,
  host = 'localhost',
  token,
  headers = [],
  body,
}: RawRequest): string {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

export function writeRequest(request: RawRequest): Buffer {
  return Buffer.concat([Buffer.from(writeHead(request)), Buffer.from(request.body ?? '')]);
}

export function readAnswer(socket: RawSocket, method = 'GET'): Promise<RawAnswer> {
  return socket.next((bytes) => takeAnswer(bytes, method), 'an answer');
}

/** The head alone, for answers that go on and on; the body follows in `socket`. */
export function readAnswerHead(socket: RawSocket): Promise<Omit<RawAnswer, 'body' | 'json'>> {
  return socket.next((bytes) => {
    const head = takeHead(bytes);
    return head === undefined ? undefined : [head, head.length];
  }, 'the head of an answer');
}

/** One request on a connection of its own. */
export async function exchange(address: Address, request: RawRequest | string | Buffer): Promise<RawAnswer> {
  using socket = await openSocket(address);
  const isWritten = typeof request === 'string' || Buffer.isBuffer(request);
  socket.write(isWritten ? request : writeRequest(request));
  return await readAnswer(socket, isWritten ? 'GET' : request.method);
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly length: number;
}

function takeHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
  if (status === undefined) throw new TypeError(`No status line: ${first.slice(0, 200)}`);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(status), headers: new Map(headers), length: end + END_OF_HEAD.length };
}

function takeAnswer(bytes: Buffer, method: string): readonly [RawAnswer, number] | undefined {
  const head = takeHead(bytes);
  if (head === undefined) return undefined;
  const { status, headers, length } = head;
  const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
  const taken = hasBody ? takeBody(bytes.subarray(length), headers) : ([Buffer.alloc(0), 0] as const);
  if (taken === undefined) return undefined;
  const [body, used] = taken;
  const answer = { status, headers, body, json: () => JSON.parse(body.toString('utf8')) as JsonObject };
  return [answer, length + used];
}

function takeBody(bytes: Buffer, headers: RawAnswer['headers']): readonly [Buffer, number] | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return takeChunks(bytes);
  const length = Number(headers.get('content-length') ?? 0);
  return bytes.length < length ? undefined : [bytes.subarray(0, length), length];
}

function takeChunks(bytes: Buffer): readonly [Buffer, number] | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const chunk = takeChunk(bytes.subarray(at));
    if (chunk === undefined) return undefined;
    at += chunk.used;
    if (chunk.content.length === 0) return [Buffer.concat(parts), at];
    parts.push(chunk.content);
  }
}

export interface Chunk {
  /** Empty for the last one. */
  readonly content: Buffer;
  readonly used: number;
}

export function takeChunk(bytes: Buffer): Chunk | undefined {
  const line = bytes.indexOf('\r\n');
  if (line === -1) return undefined;
  const size = Number.parseInt(bytes.toString('latin1', 0, line), 16);
  const start = line + 2;
  const used = start + size + 2;
  return bytes.length < used ? undefined : { content: bytes.subarray(start, start + size), used };
}
