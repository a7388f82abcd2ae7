/** MCP over streams: whatever lines a client sends, each request is answered once and the server goes on. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createRuntime } from '@tool-runtime/sdk';
import { resolveProfile } from '../../../packages/host/src/mcp/profiles/profiles.ts';
import { createMcpServer } from '../../../packages/host/src/mcp/server/create-mcp-server.ts';
import { FrameTransport } from '../../../packages/host/src/mcp/server/frame-transport.ts';
import { createLocalBackend, type LocalBackend } from '../../../packages/host/src/mcp/server/local-backend.ts';
import { readFrame } from '../../../packages/host/src/mcp/server/read-frame.ts';
import { createApprovalDesk } from '../../../packages/host/src/sessions/approval-desk.ts';
import type { FuzzTarget, OpenTarget } from '../fuzz-target.ts';
import { mcpLines } from '../mcp/odd-lines.ts';
import { below, createRandom } from '../seeded-random.ts';

const VERSION = '1.2.3';
const INTERNAL = -32_603;
const PATIENCE = 2_000;
const TURNS = 8;

export const mcpFrames: FuzzTarget = {
  name: 'mcp-frames',
  holds: 'every request of any stream of lines has exactly one answer, and nothing else is answered',
  maxBytes: 32 * 1024,
  tokens: [
    '\n',
    '{"jsonrpc":"2.0",',
    '"id":1,',
    '"id":"a",',
    '"method":"tools/call"',
    '"method":"tools/list"',
    '"params":{',
    '"_meta":{',
  ].concat(
    [
      '"name":"file_read"',
      '"arguments":{"path":"small.txt"}',
      '"method":"initialize"',
      '"method":"notifications/cancelled","params":{"requestId":1}',
    ],
    [
      '}',
      '{',
      '[',
      ']',
      ',',
      'null',
      '1e999',
      '"__proto__":',
      '\\ud800',
      '\u00ff',
      '"progressToken":1',
      '"io.modelcontextprotocol/protocolVersion":"2026-07-28"',
    ],
  ),
  inputs: mcpLines,
  open: openMcp,
};

async function openMcp(): Promise<OpenTarget> {
  const root = mkdtempSync(join(tmpdir(), 'fuzz-mcp-'));
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'small.txt'), 'hello ☃\n');
  writeFileSync(join(root, 'registry.yaml'), 'version: 1\nchildren: { max_children: 2 }\n');
  const approvals = createApprovalDesk({ now: Date.now });
  const unexpected: unknown[] = [];
  const runtime = await createRuntime({
    workspace,
    state: join(root, 'state'),
    registry: join(root, 'registry.yaml'),
    approvals,
    onUnexpected: ({ cause }) => unexpected.push(cause),
  });
  const profile = resolveProfile({ profile: 'full' });
  const backend = createLocalBackend({ runtime: async () => runtime, approvals, profile, serverVersion: VERSION });
  return {
    async check(input) {
      const outcome = await converse(input, backend);
      const [cause] = unexpected.splice(0);
      assert.equal(cause, undefined, `the runtime failed: ${cause instanceof Error ? cause.stack : String(cause)}`);
      return outcome;
    },
    async close() {
      await backend.close();
      await runtime.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

type Message = Readonly<Record<string, unknown>>;

async function converse(input: Buffer, backend: LocalBackend): Promise<string> {
  const [sent, output] = [new PassThrough(), new PassThrough()];
  const answers = collect(output);
  const connection = serveStdio(() => createMcpServer(backend), { transport: new FrameTransport(sent, output) });
  const expected = requestsIn(input);
  await feed(input, sent);
  await until(() => expected.once.every((key) => answers.ids.has(key)));
  for (let turns = 0; turns < TURNS; turns++) await turn();
  await connection.close();
  for (const key of expected.once)
    assert.equal(answers.ids.get(key) ?? 0, 1, `not one answer: to ${key} of ${kindOf(expected, key)}`);
  for (const [key, count] of answers.ids) {
    assert.ok(count <= (expected.counts.get(key) ?? 0), `more answers than questions: ${count} to ${key}`);
  }
  return [...new Set(answers.lines.map((line) => kindOfAnswer(JSON.parse(line) as Message)))].sort().join(' ');
}

interface Requests {
  /** Ids that were used once, and not taken back. */
  readonly once: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly methods: ReadonlyMap<string, string>;
}

function kindOf({ methods }: Requests, key: string): string {
  return String(methods.get(key));
}

function keyOf(id: unknown): string {
  return `${typeof id} ${String(id)}`;
}

/** What is a request by the words of JSON-RPC and of the protocol: a method, and an id that is text or a whole number. */
function requestsIn(input: Buffer): Requests {
  const counts = new Map<string, number>();
  const methods = new Map<string, string>();
  const unsure = new Set<string>();
  for (const { message, isRefused } of messagesIn(input)) {
    const { jsonrpc, id, method, params } = message;
    const isId = typeof id === 'string' || typeof id === 'number';
    if (method === 'notifications/cancelled') unsure.add(keyOf((params as Message | undefined)?.['requestId']));
    if (!isId || !Object.hasOwn(message, 'id')) continue;
    counts.set(keyOf(id), (counts.get(keyOf(id)) ?? 0) + 1);
    methods.set(keyOf(id), String(method));
    if (isRefused || !isRequest({ jsonrpc, id, method, params }, message)) unsure.add(keyOf(id));
  }
  const once = [...counts].filter(([key, count]) => count === 1 && !unsure.has(key)).map(([key]) => key);
  return { once, counts, methods };
}

function isRequest({ jsonrpc, id, method, params }: Message, message: Message): boolean {
  const isId = typeof id === 'string' || Number.isSafeInteger(id);
  const isParams = params === undefined || (typeof params === 'object' && params !== null && !Array.isArray(params));
  if (jsonrpc !== '2.0' || !isId || typeof method !== 'string' || !isParams) return false;
  const meta = (params as Message | undefined)?.['_meta'];
  const isMeta = meta === undefined || (typeof meta === 'object' && meta !== null && !Array.isArray(meta));
  return isMeta && Object.keys(message).every((key) => ['jsonrpc', 'id', 'method', 'params'].includes(key));
}

/** Messages that are refused as a whole may be answered without their id, which may occur twice. */
function isRefused(text: string): boolean {
  return !readFrame(text, text.length * 4).ok;
}

interface Sent {
  readonly message: Message;
  readonly isRefused: boolean;
}

function* messagesIn(input: Buffer): Generator<Sent> {
  for (const line of input.toString('latin1').split('\n').slice(0, -1)) {
    const bytes = Buffer.from(line, 'latin1');
    const text = bytes.toString('utf8');
    if (!Buffer.from(text).equals(bytes)) continue;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) yield { message: value as Message, isRefused: isRefused(text) };
    } catch {
      // No message: passed over there as well.
    }
  }
}

async function feed(input: Buffer, stream: PassThrough): Promise<void> {
  const random = createRandom(input.length);
  for (let at = 0; at < input.length; ) {
    const size = random() < 0.3 ? input.length : 1 + below(random, 200);
    stream.write(input.subarray(at, at + size));
    at += size;
    if (random() < 0.2) await turn();
  }
}

/** Counted in turns and not in time: on a busy machine a second may be no turn at all. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 200 && !isSo(); turns++) await turn();
  for (let waits = 0; waits < PATIENCE && !isSo(); waits++) await delay(2);
}

/** What came back, checked line by line. */
function collect(output: PassThrough) {
  const ids = new Map<string, number>();
  const lines: string[] = [];
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const [first = '', ...others] = text.split('\n');
    const whole = [`${rest}${first}`, ...others];
    rest = whole.pop() ?? '';
    for (const line of whole) note(line);
  });
  function note(line: string): void {
    const id = idIn(line);
    if (id !== undefined) ids.set(keyOf(id), (ids.get(keyOf(id)) ?? 0) + 1);
    lines.push(line);
  }
  return { ids, lines };
}

/** Of an answer; what is wrong with a line is said later, where it is handled. */
function idIn(line: string): unknown {
  try {
    const { id, method } = JSON.parse(line) as Message;
    return method === undefined ? id : undefined;
  } catch {
    return undefined;
  }
}

function kindOfAnswer(message: Message): string {
  assert.equal(message['jsonrpc'], '2.0');
  if (typeof message['method'] === 'string') return message['method'];
  const { result, error } = message as { result?: Message; error?: { code: number; message: string } };
  assert.ok((result === undefined) !== (error === undefined), 'neither or both of result and error');
  if (error !== undefined) {
    assert.ok(Number.isInteger(error.code) && typeof error.message === 'string');
    assert.notEqual(error.code, INTERNAL, `no message may make the server fail: ${error.message}`);
    return String(error.code);
  }
  return result?.['isError'] === true
    ? 'refused'
    : Object.keys(result ?? {})
        .slice(0, 2)
        .join('+');
}
