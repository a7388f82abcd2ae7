import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolMessage } from '@langchain/core/messages';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { FORBIDDEN_WRITE, openGovernedSession, REFUSAL_WORDS } from '../test/governed-session.ts';
import { toLangChainTools } from './langchain.ts';

const toolCall = (id: string, name: string, args: Record<string, unknown>) => ({
  type: 'tool_call' as const,
  id,
  name,
  args,
});

test('a good, a bad and a denied call become tool messages with status and artifact', async () => {
  const { session, deeds, calls, dispose } = await openGovernedSession();
  const [read, write] = toLangChainTools(session, { names: ['file_read', 'file_write'] });
  assert.ok(read && write);
  const good = await read.invoke(toolCall('call_1', 'file_read', { path: 'src/hello.txt' }));
  const bad = await read.invoke(toolCall('call_2', 'file_read', { nope: 1 }));
  const denied = await write.invoke(toolCall('call_3', 'file_write', FORBIDDEN_WRITE));
  const messages = [good, bad, denied].map((message) => {
    assert.ok(message instanceof ToolMessage);
    return message;
  });
  assert.deepEqual(
    messages.map((message) => [message.tool_call_id, message.status]),
    [
      ['call_1', 'success'],
      ['call_2', 'error'],
      ['call_3', 'error'],
    ],
  );
  assert.equal(messages[0]?.artifact.content, 'hello\n');
  assert.match(messages[0]?.text ?? '', /^src\/hello\.txt: 1 line, 6 bytes, sha256 \w{64}\nhello$/);
  assert.match(messages[1]?.text ?? '', /Required arguments are missing for file_read: path/);
  for (const words of REFUSAL_WORDS) assert.match(messages[2]?.text ?? '', words);
  assert.deepEqual(
    deeds().map((record) => record.kind),
    ['intent', 'result'],
  );
  const requested = calls().flatMap((record) => (record.kind === 'requested' ? [record.request_id] : []));
  assert.deepEqual(requested, ['call_1', 'call_2', 'call_3']);
  await dispose();
});

test('the model is shown the full schema, and a call without an id answers with text', async () => {
  const { session, dispose } = await openGovernedSession();
  const [read] = toLangChainTools(session, { names: ['file_read'] });
  assert.ok(read);
  const shown = convertToOpenAITool(read).function;
  assert.partialDeepStrictEqual(shown, {
    name: 'file_read',
    parameters: { required: ['path'], additionalProperties: false },
  });
  assert.match(String(await read.invoke({ path: '../x' })), /Refused \(E_POLICY\)/);
  assert.match(String(await read.invoke({ path: 7 })), /Refused \(E_VALIDATION_FAIL\)/);
  await dispose();
});

test('an abort reaches the call', async () => {
  const { session, deeds, dispose } = await openGovernedSession();
  const [read] = toLangChainTools(session, { names: ['file_read'] });
  const call = toolCall('call_1', 'file_read', { path: 'src/hello.txt' });
  const message = await read?.invoke(call, { signal: AbortSignal.abort() });
  assert.ok(message instanceof ToolMessage && message.status === 'error');
  assert.ok(deeds().every((record) => record.kind !== 'result' || record.status !== 'completed'));
  await dispose();
});
