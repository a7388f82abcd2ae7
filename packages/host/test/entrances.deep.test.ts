/**
 * The same hostile requests through every entrance. Each is refused with the same code and reason, nothing is written,
 * and nothing of them is journaled at length.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import type { JsonValue, ToolResponse } from '@tool-runtime/protocol';
import type { Session } from '@tool-runtime/sdk';
import { WebSocket } from 'ws';
import { openHost, type TestHost, TOKENS } from './open-host.ts';
import { createScratch, runCli, type Scratch, startCli } from './run-cli.ts';

const REGISTRY = 'version: 1\napprovals: { auto_approve: [file_write] }\n';
const LONG_NAME = `x\u202e${'y'.repeat(2_000_000)}`;
const DEEP = `${'['.repeat(100)}${']'.repeat(100)}`;
const PLAIN = '{"path":"out.txt","content":"x"}';

interface Hostile {
  readonly reason: string;
  readonly tool?: string;
  /** JSON text. */
  readonly args?: string;
  /** Only a text can say this: two keys, a number no double holds. */
  readonly isText?: boolean;
  /** Texts of this size do not get as far: each transport has its own tests for them. */
  readonly isObject?: boolean;
}

const HOSTILE: Readonly<Record<string, Hostile>> = {
  'a key that occurs twice': {
    reason: 'duplicate_key',
    args: '{"path":"out.txt","path":"other.txt","content":"x"}',
    isText: true,
  },
  'a number out of range': {
    reason: 'number_out_of_range',
    args: '{"path":"out.txt","content":"x","n":1e999}',
    isText: true,
  },
  'a __proto__ key': { reason: 'forbidden_key', args: '{"path":"out.txt","content":"x","__proto__":{"a":1}}' },
  'a __proto__ key inside': { reason: 'forbidden_key', args: '{"path":"out.txt","content":{"__proto__":1}}' },
  'arguments nested too deep': { reason: 'too_deep', args: `{"path":"out.txt","content":${DEEP}}` },
  'arguments larger than a request may be': {
    reason: 'too_large',
    args: JSON.stringify({ path: 'out.txt', content: 'x'.repeat(8 * 1024 * 1024) }),
    isObject: true,
  },
  'many small arguments, too large together': {
    reason: 'too_large',
    args: JSON.stringify({ path: 'out.txt', content: Array(9).fill('\u20ac'.repeat(350_000)) }),
    isObject: true,
  },
  'a tool name of two megabytes': { reason: 'invalid_fields', tool: LONG_NAME },
  'a tool name with a line break': { reason: 'invalid_fields', tool: 'file_write\nok' },
  'an empty tool name': { reason: 'invalid_fields', tool: '' },
};

/** Sends one call and gives what came back, as text. */
type Entrance = (tool: string, argsText: string) => Promise<string>;

let host: TestHost;
let session: Session;
let scratch: Scratch;

before(async () => {
  host = await openHost({ registryText: REGISTRY });
  session = await host.host.workspaces.find(undefined).runtime.openSession();
  scratch = createScratch();
});

after(async () => {
  await session.close({ cancel: true, children: 'end' });
  await host[Symbol.asyncDispose]();
  scratch[Symbol.dispose]();
});

const asText = (work: Promise<unknown>): Promise<string> =>
  work.then(JSON.stringify, (thrown: { toEntry?(): unknown }) => JSON.stringify(thrown.toEntry?.() ?? String(thrown)));

const ENVELOPE = (tool: string, args: string, sessionId: string): string =>
  `{"type":"ToolRequest","tool":${JSON.stringify(tool)},"args":${args},"request_id":"${crypto.randomUUID()}",` +
  `"session_id":"${sessionId}","timestamp":1}`;

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const RPC = (tool: string, args: string, meta?: object): string =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":${JSON.stringify(tool)},"arguments":${args}` +
  `${meta === undefined ? '' : `,"_meta":${JSON.stringify(meta)}`}}}`;

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
});

const parse = (args: string): JsonValue => JSON.parse(args) as JsonValue;

/** Entrances that take objects: what only a text can say does not reach them. */
const OBJECTS: Readonly<Record<string, Entrance>> = {
  'session.call': (tool, args) => asText(session.call(tool, parse(args))),
  'session.batch': (tool, args) => asText(session.batch([{ tool, args: parse(args) }])),
  'session.handle': (tool, args) =>
    asText(
      session.handle({
        type: 'ToolRequest',
        tool,
        args: parse(args) as never,
        request_id: crypto.randomUUID(),
        session_id: session.id,
        timestamp: 1,
      }),
    ),
  'session.propose': (tool, args) => asText(session.propose({ steps: [{ tool, args: parse(args) }] })),
  'a child session': async (tool, args) => {
    const child = await session.openChild({ agentId: 'child', tools: ['file_read', 'file_write'] });
    try {
      return await asText(child.call(tool, parse(args)) as Promise<ToolResponse>);
    } finally {
      await child.close();
    }
  },
};

const TEXTS: Readonly<Record<string, Entrance>> = {
  'HTTP /v1/call': async (tool, args) => {
    const opened = await host.request('/v1/sessions', { method: 'POST', token: TOKENS.operator, body: {} });
    const { session_id } = (await opened.json()) as { session_id: string };
    return post('/v1/call', ENVELOPE(tool, args, session_id), {});
  },
  WebSocket: async (tool, args) => {
    const socket = new WebSocket(`${host.url.replace('http', 'ws')}/v1/ws`, {
      headers: { authorization: `Bearer ${TOKENS.operator}` },
    });
    const [ack] = (await once(socket, 'message')) as [Buffer];
    const answer = once(socket, 'message') as Promise<[Buffer]>;
    socket.send(ENVELOPE(tool, args, sessionIn(ack.toString())));
    const [text] = await answer;
    socket.close();
    return text.toString();
  },
  'Unix socket': async (tool, args) => {
    const socket = connect(host.socket);
    await once(socket, 'connect');
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    socket.write('\n');
    const sessionId = sessionIn(String((await lines.next()).value));
    socket.write(`${ENVELOPE(tool, args, sessionId)}\n`);
    const answer = String((await lines.next()).value);
    socket.destroy();
    return answer;
  },
  'stdio envelopes': (tool, args) => dialogue(['stdio'], [''], (ack) => ENVELOPE(tool, args, sessionIn(ack))),
  'MCP 2025 on stdio': (tool, args) => dialogue(['mcp', '--profile', 'full'], [INITIALIZE], () => RPC(tool, args)),
  'MCP 2026 on stdio': (tool, args) => dialogue(['mcp', '--profile', 'full'], [], () => RPC(tool, args, META)),
  'MCP 2025 on HTTP': async (tool, args) => {
    const opened = await fetch(`${host.url}/mcp?profile=full`, {
      method: 'POST',
      headers: mcpHeaders(),
      body: INITIALIZE,
    });
    await opened.text();
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    return post('/mcp?profile=full', RPC(tool, args), headers);
  },
  'MCP 2026 on HTTP': (tool, args) =>
    post('/mcp?profile=full', RPC(tool, args, META), {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      // A header cannot hold the hostile names.
      'mcp-name': tool.startsWith('file_') && !tool.includes('\n') ? tool : 'file_write',
    }),
};

function mcpHeaders(): Record<string, string> {
  return {
    authorization: `Bearer ${TOKENS.operator}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
}

async function post(path: string, body: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(`${host.url}${path}`, {
    method: 'POST',
    headers: { ...mcpHeaders(), ...headers },
    body,
  });
  return response.text();
}

function sessionIn(ack: string): string {
  return /"session_id":"([^"]+)"/.exec(ack)?.[1] ?? assert.fail(`no session: ${ack}`);
}

/** Lines to a command, the last made from the answer to the one before; the answer to that. */
async function dialogue(
  command: readonly string[],
  first: readonly string[],
  last: (answer: string) => string,
): Promise<string> {
  const child = startCli([...command, ...scratch.options]);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let answer = '';
  for (const line of first) {
    child.stdin.write(`${line}\n`);
    answer = String((await lines.next()).value);
  }
  child.stdin.write(`${last(answer)}\n`);
  const found = String((await lines.next()).value);
  child.stdin.end();
  await once(child, 'close');
  return found;
}

for (const [name, entrance] of Object.entries({ ...OBJECTS, ...TEXTS })) {
  describe(`requests through ${name}`, () => {
    for (const [what, { tool = 'file_write', args = PLAIN, reason, isText, isObject }] of Object.entries(HOSTILE)) {
      if (name in OBJECTS ? isText === true : isObject === true) continue;
      test(`are refused for ${what}`, async () => {
        const answer = await entrance(tool, args);
        assert.match(answer, /E_VALIDATION_FAIL/, answer.slice(0, 500));
        assert.match(answer, new RegExp(`"reason":\\s*\\\\?"${reason}\\b`), answer.slice(0, 500));
        assert.ok(answer.length < 10_000, 'nothing is repeated at length');
      });
    }

    test('are answered when nothing is wrong with them', async () => {
      const answer = await entrance('file_read', '{"path":"hello.txt"}');
      assert.doesNotMatch(answer, /E_VALIDATION_FAIL|E_POLICY/, answer.slice(0, 500));
    });
  });
}

test('the command line refuses the same arguments', async () => {
  for (const { tool = 'file_write', args = PLAIN, reason } of Object.values(HOSTILE)) {
    // No command line holds megabytes in one word.
    if (tool.length + args.length > 100_000) continue;
    const { code, stdout, stderr } = await runCli(['call', tool, args, '--json', ...scratch.options]);
    assert.notEqual(code, 0, reason);
    assert.match(stdout + stderr, /E_VALIDATION_FAIL|Arguments are not valid JSON/, `${reason}: ${stdout}${stderr}`);
  }
});

test('nothing hostile was written or journaled', async () => {
  assert.deepEqual(readdirSync(host.workspace), ['hello.txt']);
  assert.deepEqual(readdirSync(scratch.workspace), []);
  const records = [...host.host.workspaces.find(undefined).runtime.records()].map((record) => JSON.stringify(record));
  assert.ok(records.length > 0);
  for (const record of records) assert.ok(record.length < 4000, record.slice(0, 500));
  assert.ok(!records.some((record) => record.includes('\\n') || record.includes('\u202e')));
});
