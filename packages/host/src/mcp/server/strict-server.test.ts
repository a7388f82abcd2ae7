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
