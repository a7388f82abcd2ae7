import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScriptedModel } from './scripted-model.ts';
import type { Json, Wire } from './wire.ts';
import { anthropicMessages, geminiContent, openaiChat, openaiResponses } from './wires.ts';

const CALLS = [{ tool: 'grep', args: { pattern: 'x' } }];
const NAME = 'mcp__tool_runtime__grep';

interface Conversation {
  readonly wire: Wire;
  readonly path: string;
  readonly offer: (names: readonly string[]) => Json;
  readonly result: Json;
  readonly shown: unknown;
}

const CONVERSATIONS: Readonly<Record<string, Conversation>> = {
  'Anthropic messages': {
    wire: anthropicMessages,
    path: '/v1/messages?beta=true',
    offer: (names) => ({ tools: names.map((name) => ({ name })) }),
    result: {
      messages: [{ role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', text: 'hit' }] }] }],
    },
    shown: [{ type: 'text', text: 'hit' }],
  },
  'OpenAI responses': {
    wire: openaiResponses,
    path: '/v1/responses',
    offer: (names) => ({ tools: names.map((name) => ({ type: 'function', name })) }),
    result: { input: [{ type: 'function_call_output', output: 'hit' }] },
    shown: 'hit',
  },
  'OpenAI chat': {
    wire: openaiChat,
    path: '/v1/chat/completions',
    offer: (names) => ({ tools: names.map((name) => ({ function: { name } })) }),
    result: { messages: [{ role: 'tool', content: 'hit' }] },
    shown: 'hit',
  },
  'Gemini content': {
    wire: geminiContent,
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    offer: (names) => ({ tools: [{ functionDeclarations: names.map((name) => ({ name })) }] }),
    result: { contents: [{ parts: [{ functionResponse: { response: { output: 'hit' } } }] }] },
    shown: [{ functionResponse: { response: { output: 'hit' } } }],
  },
};

for (const [name, { wire, path, offer, result, shown }] of Object.entries(CONVERSATIONS)) {
  test(`${name}: the model calls the tool of the server, keeps what it is shown, and reports a tool it does not find`, async () => {
    await using model = await startScriptedModel(wire, CALLS);
    const ask = async (body: Json) =>
      (await fetch(`${model.url}${path}`, { method: 'POST', body: JSON.stringify(body) })).text();
    const first = await ask(offer(['grep', NAME]));
    assert.ok(first.includes(`"name":"${NAME}"`), first);
    assert.match(first, /pattern/);
    const last = await ask({ ...offer([NAME]), ...result });
    assert.match(last, /done/);
    assert.deepEqual(model.shown, [shown]);
    assert.deepEqual(model.missing, []);
    await ask(offer(['grep']));
    assert.equal(model.missing.length, 1);
    assert.equal((await fetch(`${model.url}/elsewhere`)).status, 404);
  });
}
