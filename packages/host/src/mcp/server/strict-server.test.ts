import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { StrictServer } from './strict-server.ts';

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Asks after a good opening. */
async function ask(method: string, params: object): Promise<Answer> {
  const server = new StrictServer(
    { name: 'x', version: '1' },
    { capabilities: { logging: {}, prompts: {}, tools: {} } },
  );
  server.setRequestHandler('prompts/list', () => {
    throw new TypeError('A fault of ours');
  });
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'checked by schemas' }] }));
  server.setPlainCallHandler(async () => ({ content: [{ type: 'text', text: 'plain' }] }));
  const answers = new Map<unknown, PromiseWithResolvers<Answer>>();
  const wire: Transport = {
    async start() {},
    async close() {},
    async send(message: JSONRPCMessage) {
      if ('id' in message) answers.get(message.id)?.resolve(message as Answer);
    },
  };
  await server.connect(wire);
  const request = (id: number, name: string, content: object): Promise<Answer> => {
    const answer = Promise.withResolvers<Answer>();
    answers.set(id, answer);
    wire.onmessage?.({ jsonrpc: '2.0', id, method: name, params: content } as JSONRPCMessage);
    return answer.promise;
  };
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  assert.ok((await request(1, 'initialize', opening)).result);
  const answer = await request(2, method, params);
  await server.close();
  return answer;
}

test('parameters out of form are the mistake of the caller, named in a line', async () => {
  const { error } = await ask('logging/setLevel', { level: 'loud' });
  assert.equal(error?.code, -32_602);
  assert.match(error.message, /^Invalid logging\/setLevel request: params\.level: /);
  const opening = await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} });
  assert.equal(opening.error?.code, -32_602);
});

test('good parameters are answered', async () => {
  assert.deepEqual((await ask('logging/setLevel', { level: 'info' })).result, {});
});

test('a fault of a handler stays one of the server', async () => {
  assert.deepEqual((await ask('prompts/list', {})).error, { code: -32_603, message: 'A fault of ours' });
});

const PLAIN = [
  { name: 'x' },
  { name: 'x', arguments: {} },
  { name: 'x', arguments: { a: [1] }, _meta: { progressToken: 'p' } },
  { name: 'x', _meta: { traceparent: '00' } },
];
const FOR_SCHEMAS = [
  { name: 'x', task: { ttl: 1 } },
  { name: 'x', _meta: { 'io.modelcontextprotocol/related-task': { taskId: '1' } } },
];
const OUT_OF_FORM = [
  {},
  { name: 7 },
  { name: 'x', arguments: [] },
  { name: 'x', arguments: null },
  { name: 'x', arguments: 'text' },
];

test('a plain call is answered without schemas', async () => {
  for (const params of PLAIN) {
    assert.deepEqual((await ask('tools/call', params)).result, { content: [{ type: 'text', text: 'plain' }] });
  }
});

test('a call that carries more goes through the schemas', async () => {
  for (const params of FOR_SCHEMAS) {
    assert.match(JSON.stringify((await ask('tools/call', params)).result), /checked by schemas/);
  }
});

test('a call that is out of form is refused by the schemas', async () => {
  for (const params of OUT_OF_FORM) {
    const { result, error } = await ask('tools/call', params);
    assert.equal(result, undefined, JSON.stringify(params));
    assert.equal(error?.code, -32_602, JSON.stringify(params));
  }
});

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };

/** A server on a channel of the stdio entry, and what it sends there. */
async function connected(): Promise<{ server: StrictServer; channel: Transport; sent: unknown[] }> {
  const server = new StrictServer({ name: 'x', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', () => ({ content: [] }));
  server.setPlainCallHandler(async () => ({ content: [{ type: 'text', text: 'plain' }] }));
  const sent: unknown[] = [];
  const channel: Transport = {
    async start() {},
    close: async () => channel.onclose?.(),
    send: async (message) => void sent.push(message),
  };
  await server.connect(channel);
  return { server, channel, sent };
}

test('a plain call from the codec is answered there, once the family of the connection is settled', async () => {
  const { server, channel, sent } = await connected();
  const answered = Promise.withResolvers<JSONRPCMessage>();
  const answers = { send: async (message: JSONRPCMessage) => answered.resolve(message) };
  assert.equal(server.takePlainCall(CALL, answers), false, 'nothing came through the entry yet');
  channel.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (const message of [null, [], 7, { ...CALL, method: 'ping' }, { ...CALL, params: { name: 'x', task: {} } }]) {
    assert.equal(server.takePlainCall(message, answers), false, JSON.stringify(message));
  }
  assert.equal(server.takePlainCall(CALL, answers), true);
  assert.deepEqual(await answered.promise, {
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: 'plain' }] },
  });
  assert.deepEqual(sent, []);
  await server.close();
  assert.equal(server.takePlainCall(CALL, answers), false, 'closed');
});

test('a connection that the entry still classifies is not settled', async () => {
  const { server, channel } = await connected();
  channel.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' }, { classification: { era: 'legacy' } });
  assert.equal(server.takePlainCall(CALL, { send: async () => {} }), false);
  await server.close();
});
