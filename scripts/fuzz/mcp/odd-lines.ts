/** Lines an MCP client might send: openings of both families, calls, notifications, unrequested answers, and noise. */
import fc from 'fast-check';

const RESERVED = 'io.modelcontextprotocol/';
const ENVELOPE = {
  [`${RESERVED}protocolVersion`]: '2026-07-28',
  [`${RESERVED}clientInfo`]: { name: 'fuzz', version: '1' },
  [`${RESERVED}clientCapabilities`]: {},
};

const METHODS = [
  'tools/call',
  'tools/call',
  'tools/call',
  'tools/list',
  'ping',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/read',
].concat([
  'resources/templates/list',
  'completion/complete',
  'logging/setLevel',
  'initialize',
  'server/discover',
  'x',
  '',
  'constructor',
  'tasks/get',
]);
const NOTIFICATIONS = [
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'x',
];

const id = fc.oneof(fc.nat({ max: 5 }), fc.constantFrom<unknown>('1', 'a', '', null, -1, 1.5, 2 ** 53, true, {}));
const meta = fc.oneof(
  { weight: 4, arbitrary: fc.constant<unknown>(undefined) },
  { weight: 3, arbitrary: fc.constant<unknown>(ENVELOPE) },
  fc.constantFrom<unknown>({ progressToken: 1 }, { ...ENVELOPE, progressToken: 'p' }, { traceparent: 'x' }, null, 7, {
    [`${RESERVED}protocolVersion`]: '1999',
  }),
);
const tool = fc.oneof(
  fc.constantFrom<unknown>(
    { name: 'file_read', arguments: { path: 'small.txt' } },
    { name: 'fs_list', arguments: {} },
    { name: 'fs_list' },
    { name: 'file_write', arguments: { path: 'w.txt', content: 'x' } },
    { name: 'grep', arguments: { pattern: 'hello' } },
    { name: 'tool_call', arguments: { tool: 'file_read', args: { path: 'small.txt' } } },
    { name: 'tool_search', arguments: { query: 'read' } },
    { name: 'file_read', arguments: { path: '../x' } },
    { name: 'constructor', arguments: {} },
    { name: '__proto__' },
  ),
  fc.record({
    name: fc.constantFrom('file_read', 'child_open', 'child_call', 'child_end', ''),
    arguments: fc.jsonValue({ maxDepth: 2 }),
  }),
  fc.jsonValue({ maxDepth: 2 }),
);
const params = fc
  .tuple(
    tool,
    meta,
    fc.option(fc.constantFrom('cursor', 'uri', 'level', 'requestId', 'ref'), { nil: undefined, freq: 6 }),
  )
  .map(([given, given_meta, extra]) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
    return {
      ...given,
      ...(given_meta === undefined ? {} : { _meta: given_meta }),
      ...(extra === undefined ? {} : { [extra]: 'x' }),
    };
  });

const message = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      { jsonrpc: fc.constant<unknown>('2.0'), id, method: fc.constantFrom(...METHODS), params },
      { requiredKeys: ['jsonrpc', 'id', 'method'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        jsonrpc: fc.constant<unknown>('2.0'),
        method: fc.constantFrom(...NOTIFICATIONS),
        params: fc.oneof(fc.record({ requestId: id }), fc.jsonValue()),
      },
      { requiredKeys: ['jsonrpc', 'method'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      { jsonrpc: fc.constantFrom<unknown>('2.0', '1.0', null), id, result: fc.jsonValue(), error: fc.jsonValue() },
      { requiredKeys: ['jsonrpc', 'id'] },
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

const OPENINGS: readonly (readonly object[])[] = [
  [
    {
      jsonrpc: '2.0',
      id: 'open',
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ],
  [{ jsonrpc: '2.0', id: 'look', method: 'server/discover', params: { _meta: ENVELOPE } }],
  [
    {
      jsonrpc: '2.0',
      id: 'open',
      method: 'initialize',
      params: { protocolVersion: '2024-11-05', capabilities: { elicitation: {} }, clientInfo: { name: 'fuzz' } },
    },
  ],
  [],
];

/** One message a line, an opening first. */
export const mcpLines: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...OPENINGS), fc.array(message, { maxLength: 8 }), fc.constantFrom('\n', '\n', '\r\n', '\n\n'))
  .map(([opening, messages, end]) => [...opening, ...messages].map((one) => `${JSON.stringify(one)}${end}`).join(''));
