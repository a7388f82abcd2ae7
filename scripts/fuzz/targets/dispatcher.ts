/** Lines of the wire protocol against a real session: one coded answer each, and the session goes on. */
import assert from 'node:assert/strict';
import { Connection, reachOnly, serveSession } from '@tool-runtime/host';
import { ERROR_CODES, type ServerMessage } from '@tool-runtime/protocol';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import fc from 'fast-check';
import type { FuzzTarget, OpenTarget } from '../fuzz-target.ts';
import { oddJson } from '../json/odd-json.ts';

/** Stands for the session's id, which is another one in every run. */
const SESSION = 'SESSION';
const TOOLS = [
  'file_read',
  'file_write',
  'fs_list',
  'fs_stat',
  'fs_tree',
  'file_reed',
  '',
  'constructor',
  '__proto__',
  'toString',
  'a'.repeat(600),
];
const PATHS = [
  'a.txt',
  '../x',
  '/etc/passwd',
  '',
  'a\u0000b',
  '\ud800',
  '.git/config',
  'x/'.repeat(3000),
  'CON',
  '~',
  'no/such/file',
  'ünï',
];
const REQUEST = {
  type: 'ToolRequest',
  tool: 'file_read',
  args: { path: 'a.txt' },
  request_id: 'r',
  session_id: SESSION,
  timestamp: 1_730_822_400,
};

const request = fc.record({
  type: fc.constantFrom(
    'ToolRequest',
    'ToolRequest',
    'ToolRequest',
    'Heartbeat',
    'CancelRequest',
    'BatchRequest',
    'ChildOpen',
    'Nope',
  ),
  tool: fc.constantFrom(...TOOLS),
  args: fc.record({ path: fc.constantFrom(...PATHS), content: fc.constant('x') }, { requiredKeys: ['path'] }),
  request_id: fc.nat().map((number) => `r${number}`),
  session_id: fc.constantFrom(SESSION, SESSION, SESSION, 'sess-other'),
  timestamp: fc.constant(1_730_822_400),
});
const line = fc.oneof(
  request.map((message) => JSON.stringify(message)),
  request.chain((message) => oddJson([message])),
  oddJson([
    REQUEST,
    { ...REQUEST, tool: 'file_write', args: { path: 'w', content: 'x' } },
    { type: 'SessionAttach', session_id: SESSION },
  ]),
);

export const dispatcher: FuzzTarget = {
  name: 'dispatcher',
  holds: 'every line that holds a message gets one answer with a known code, and none makes the runtime fail',
  maxBytes: 32 * 1024,
  tokens: [
    '"type":"ToolRequest"',
    '"type":"CancelRequest"',
    '"session_id":"SESSION"',
    '"tool":"file_write"',
    '"args":{}',
    '"request_id":"r"',
  ].concat([
    '"idempotency_key":"k"',
    '"timeout_ms":1',
    '"t\\u006fol":',
    '"__proto__":{}',
    '\n',
    '{',
    '}',
    '[',
    ']',
    '1e999',
    '\\ud800',
    '\0',
  ]),
  inputs: fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n')),
  open: openDispatcher,
};

async function openDispatcher(): Promise<OpenTarget> {
  const unexpected: unknown[] = [];
  const scratch = await openScratchRuntime({ onUnexpected: (error) => unexpected.push(error.cause) });
  const served = serveSession(scratch.session, { keptEvents: 0, nextEventId: () => 0, now: Date.now });
  const answers: string[] = [];
  const connection = new Connection(reachOnly(served), {
    send: (text) => void answers.push(text),
    events: 'progress',
    maxBytes: 1 << 20,
    serverVersion: '0',
  });
  return {
    async check(input) {
      const lines = input.toString('utf8').replaceAll(SESSION, scratch.session.id).split('\n');
      for (const each of lines) connection.receive(each);
      await connection.drain();
      const messages = answers.splice(0).map((text) => JSON.parse(text) as ServerMessage);
      // A client that attached to the session gets the events of its calls as well.
      const codes = messages.filter(({ type }) => type !== 'EventMessage').map(codeOf);
      const [cause] = unexpected.splice(0);
      assert.equal(cause, undefined, `the runtime failed: ${cause instanceof Error ? cause.stack : String(cause)}`);
      // A cancel of a call that is not running has nothing to answer.
      const silent = lines.filter((each) => each.includes('CancelRequest') || each.includes('\\u')).length;
      const counted = `${codes.length} answers to ${lines.length} lines`;
      assert.ok(codes.length <= lines.length && codes.length >= lines.length - silent, counted);
      return [...new Set(codes)].sort().join(' ');
    },
    async close() {
      const alive = await scratch.session.call('file_write', { path: 'alive', content: 'yes' });
      assert.equal(alive.ok, true, 'the session did not survive');
      assert.equal(scratch.runtime.verify().ok, true, 'the journal does not hold');
      await scratch.dispose();
    },
  };
}

function codeOf(message: ServerMessage): string {
  switch (message.type) {
    case 'ErrorMessage':
      return known(message.code);
    case 'ToolResponse':
      assert.equal(message.ok, message.errors.length === 0);
      return message.ok ? 'ok' : known(message.errors[0]?.code ?? '');
    default:
      return message.type;
  }
}

function known(code: string): string {
  assert.ok((ERROR_CODES as readonly string[]).includes(code), `unknown code ${code}`);
  return code;
}
