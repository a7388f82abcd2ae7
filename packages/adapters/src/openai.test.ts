import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenAI } from 'openai';
import { FORBIDDEN_WRITE, openGovernedSession, REFUSAL_WORDS } from '../test/governed-session.ts';
import { handleOpenAIToolCalls, toOpenAITools } from './openai.ts';

const names = ['file_read', 'file_write', 'grep'];

test('responses: tools and answers have the shapes of the API, and refusals are readable', async () => {
  const { session, deeds, calls, dispose } = await openGovernedSession();
  const set = toOpenAITools(session, { api: 'responses', names });
  const tools: OpenAI.Responses.FunctionTool[] = set.tools;
  assert.partialDeepStrictEqual(tools[0], { type: 'function', name: 'file_read', strict: false });
  const call = (call_id: string, name: string, args: string) => ({
    type: 'function_call',
    call_id,
    name,
    arguments: args,
  });
  const output = [
    { type: 'reasoning', id: 'rs_1', summary: [] },
    call('call_1', 'file_read', '{"path":"src/hello.txt"}'),
    call('call_2', 'file_read', '{"path":'),
    call('call_3', 'file_read', '{"file":7}'),
    call('call_4', 'file_write', JSON.stringify(FORBIDDEN_WRITE)),
    call('call_5', 'fs_list', '{"glob":"*"}'),
  ];
  const answers: OpenAI.Responses.ResponseInputItem.FunctionCallOutput[] = await handleOpenAIToolCalls(set, output);
  assert.deepEqual(
    answers.map((answer) => answer.call_id),
    ['call_1', 'call_2', 'call_3', 'call_4', 'call_5'],
  );
  const [good, broken, bad, denied, unknown] = answers.map((answer) => String(answer.output));
  assert.match(good ?? '', /^src\/hello\.txt: 1 line, 6 bytes, sha256 \w{64}\nhello$/);
  assert.match(broken ?? '', /Arguments cannot be read/);
  assert.match(bad ?? '', /Refused \(E_VALIDATION_FAIL\)/);
  for (const words of REFUSAL_WORDS) assert.match(denied ?? '', words);
  assert.match(unknown ?? '', /Tool is not offered: fs_list/);
  assert.deepEqual(
    deeds().map((record) => record.kind),
    ['intent', 'result'],
  );
  assert.ok(calls().some((record) => record.kind === 'requested' && record.request_id === 'call_4'));
  await dispose();
});

test('chat: strict arguments are restored before the call', async () => {
  const { session, dispose } = await openGovernedSession();
  const set = toOpenAITools(session, { api: 'chat', strict: true, names });
  const tools: OpenAI.Chat.ChatCompletionTool[] = set.tools;
  assert.deepEqual(
    tools.map((tool) => tool.type === 'function' && tool.function.strict),
    [true, false, true],
  );
  assert.deepEqual(
    set.refused.map((tool) => tool.name),
    ['file_write'],
  );
  const args = { path: 'src/hello.txt', max_bytes: null, offset: 1, limit: null, encoding: null, line_numbers: null };
  const toolCalls = [
    { id: 'call_1', type: 'function', function: { name: 'file_read', arguments: JSON.stringify(args) } },
  ];
  const [answer] = await handleOpenAIToolCalls(set, toolCalls);
  const message: OpenAI.Chat.ChatCompletionToolMessageParam | undefined = answer;
  assert.partialDeepStrictEqual(message, { role: 'tool', tool_call_id: 'call_1' });
  assert.match(String(message?.content), /lines 1 to 1 of 1,/);
  await dispose();
});
