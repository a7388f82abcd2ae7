import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { StrictServer } from './strict-server.ts';

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Asks after a good opening. */
async function ask(method: string, params: object): Promise<Answer> {
  const server = new StrictServer({ name: 'x', version: '1' }, { capabilities: { logging: {}, prompts: {} } });
  server.setRequestHandler('prompts/list', () => {
    throw new TypeError('A fault of ours');
  });
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
    wire.onmessage?.(parseJSONRPCMessage({ jsonrpc: '2.0', id, method: name, params: content }));
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
