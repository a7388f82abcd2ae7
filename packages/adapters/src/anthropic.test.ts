import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { Anthropic } from '@anthropic-ai/sdk';
import { FORBIDDEN_WRITE, openGovernedSession, REFUSAL_WORDS } from '../test/governed-session.ts';
import { handleAnthropicToolUses, toAnthropicRunnableTools, toAnthropicTools } from './anthropic.ts';

const CALLS = [
  { type: 'tool_use', id: 'toolu_1', name: 'file_read', input: { path: 'src/hello.txt' } },
  { type: 'tool_use', id: 'toolu_2', name: 'file_read', input: { nope: 1 } },
  { type: 'tool_use', id: 'toolu_3', name: 'file_write', input: FORBIDDEN_WRITE },
];

interface Result {
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: boolean;
}

interface Body {
  readonly tools: readonly { readonly name: string; readonly input_schema: { readonly required: string[] } }[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Result[] }[];
}

/** A model on loopback: first the calls, then the end. */
async function scriptedServer() {
  const bodies: Body[] = [];
  const server = createServer(async (request, response) => {
    bodies.push((await json(request)) as Body);
    const isFirst = bodies.length === 1;
    const message = {
      id: `msg_${bodies.length}`,
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: isFirst ? CALLS : [{ type: 'text', text: 'done' }],
      stop_reason: isFirst ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(message));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const client = new Anthropic({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
  return { client, bodies, close: () => server.close() };
}

function assertAnswers(results: readonly Result[]): void {
  const [good, bad, denied] = results;
  assert.deepEqual(
    results.map((result) => [result.tool_use_id, result.is_error === true]),
    [
      ['toolu_1', false],
      ['toolu_2', true],
      ['toolu_3', true],
    ],
  );
  assert.match(good?.content ?? '', /^src\/hello\.txt: 1 line, 6 bytes, sha256 \w{64}\nhello$/);
  assert.match(bad?.content ?? '', /Required arguments are missing for file_read: path/);
  for (const words of REFUSAL_WORDS) assert.match(denied?.content ?? '', words);
}

test('the runner tells the model good answers and readable refusals', async () => {
  const { session, deeds, calls, dispose } = await openGovernedSession();
  const { client, bodies, close } = await scriptedServer();
  const tools = toAnthropicRunnableTools(session, { names: ['file_read', 'file_write'] });
  const messages = [{ role: 'user' as const, content: 'go' }];
  const final = await client.beta.messages.toolRunner({ model: 'scripted', max_tokens: 100, messages, tools });
  assert.equal(final.stop_reason, 'end_turn');
  assert.deepEqual(
    bodies[0]?.tools.map((tool) => [tool.name, tool.input_schema.required]),
    [
      ['file_read', ['path']],
      ['file_write', ['path', 'content']],
    ],
  );
  assertAnswers(bodies[1]?.messages.at(-1)?.content ?? []);
  assert.deepEqual(
    deeds().map((record) => record.kind),
    ['intent', 'result'],
  );
  assert.ok(calls().some((record) => record.kind === 'requested' && record.request_id === 'toolu_3'));
  close();
  await dispose();
});

test('tool_use blocks are answered without the runner, others passed over', async () => {
  const { session, deeds, dispose } = await openGovernedSession();
  const set = toAnthropicTools(session, { names: ['file_read', 'file_write'] });
  const tools: Anthropic.Tool[] = set.tools;
  assert.equal(tools[0]?.strict, undefined);
  const results: Anthropic.ToolResultBlockParam[] = await handleAnthropicToolUses(set, [
    { type: 'text', text: 'hm' },
    ...CALLS,
  ]);
  assertAnswers(results as Result[]);
  const unknown = { type: 'tool_use', id: 'toolu_9', name: 'fs_list', input: { glob: '*' } };
  assert.match((await handleAnthropicToolUses(set, [unknown]))[0]?.content ?? '', /not offered/);
  assert.equal(deeds().length, 2);
  await dispose();
});

test('strict is marked where it holds and reasons are reported where it does not', async () => {
  const { session, dispose } = await openGovernedSession();
  const { tools, refused } = toAnthropicTools(session, { names: ['git_commit', 'file_write'], strict: true });
  assert.deepEqual(
    tools.map((tool) => tool.strict),
    [true, undefined],
  );
  assert.deepEqual(
    refused.map((tool) => tool.name),
    ['file_write'],
  );
  await dispose();
});
