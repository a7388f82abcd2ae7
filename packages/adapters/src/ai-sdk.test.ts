import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ModelMessage } from 'ai';
import { FORBIDDEN_WRITE, openGovernedSession, REFUSAL_WORDS } from '../test/governed-session.ts';
import { createApprovalBridge } from './approval-bridge.ts';

const { generateText, isStepCount } = await import('ai');
const { MockLanguageModelV4 } = await import('ai/test');
const { aiSdkApproval, toAISDKTools } = await import('./ai-sdk.ts');

type ScriptedModel = InstanceType<typeof MockLanguageModelV4>;
type Generated = Awaited<ReturnType<ScriptedModel['doGenerate']>>;

const usage: Generated['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function says(content: Generated['content'], finishReason: 'stop' | 'tool-calls'): Generated {
  return { content, finishReason: { unified: finishReason, raw: finishReason }, usage, warnings: [] };
}

/** A model that makes these calls in one turn and then stops. */
function scripted(calls: readonly { id: string; name: string; args: unknown }[]): ScriptedModel {
  const toolCalls = calls.map(({ id, name, args }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: JSON.stringify(args),
  }));
  return new MockLanguageModelV4({
    doGenerate: [says(toolCalls, 'tool-calls'), says([{ type: 'text', text: 'done' }], 'stop')],
  });
}

/** What the model was told about its calls. */
function outputs(model: ScriptedModel) {
  const last = model.doGenerateCalls.at(-1)?.prompt ?? [];
  return last
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .flatMap((part) => {
      if (part.type !== 'tool-result') return [];
      return [
        { id: part.toolCallId, type: part.output.type, text: String('value' in part.output ? part.output.value : '') },
      ];
    });
}

test('a good, a bad and a denied call reach the model as text and readable refusals', async () => {
  const { session, deeds, calls, dispose } = await openGovernedSession();
  const model = scripted([
    { id: 'call_1', name: 'file_read', args: { path: 'src/hello.txt' } },
    { id: 'call_2', name: 'file_read', args: { nope: 1 } },
    { id: 'call_3', name: 'file_write', args: FORBIDDEN_WRITE },
  ]);
  const tools = toAISDKTools(session, { names: ['file_read', 'file_write'] });
  const { text } = await generateText({ model, tools, prompt: 'go', stopWhen: isStepCount(3) });
  assert.equal(text, 'done');
  const [good, bad, denied] = outputs(model);
  assert.deepEqual([good?.type, bad?.type, denied?.type], ['text', 'error-text', 'error-text']);
  assert.match(good?.text ?? '', /^src\/hello\.txt: 1 line, 6 bytes, sha256 \w{64}\nhello$/);
  assert.match(bad?.text ?? '', /Required arguments are missing for file_read: path/);
  for (const words of REFUSAL_WORDS) assert.match(denied?.text ?? '', words);
  assert.deepEqual(
    deeds().map((record) => record.kind),
    ['intent', 'result'],
  );
  assert.ok(calls().some((record) => record.kind === 'requested' && record.request_id === 'call_3'));
  await dispose();
});

test('the model is shown the full schema and bounded answers, and an abort reaches the call', async () => {
  const { session, dispose } = await openGovernedSession();
  const model = scripted([{ id: 'call_1', name: 'file_read', args: { path: 'src/hello.txt' } }]);
  const tools = toAISDKTools(session, { names: ['file_read'], maxTextBytes: 1024 });
  await generateText({ model, tools, prompt: 'go', stopWhen: isStepCount(2) });
  const [shown] = model.doGenerateCalls[0]?.tools ?? [];
  assert.ok(shown?.type === 'function' && !('$schema' in shown.inputSchema));
  assert.deepEqual(shown.inputSchema.required, ['path']);
  assert.match(outputs(model)[0]?.text ?? '', /^src\/hello.txt: 1 line/);
  const aborted = await tools['file_read']?.execute?.(
    { path: 'src/hello.txt' },
    { toolCallId: 'call_2', messages: [], context: {}, abortSignal: AbortSignal.abort() },
  );
  assert.equal(aborted.error.code, 'E_INTERNAL');
  await dispose();
});

test('a call the policy asks about waits for the user, and runs only after a yes', async () => {
  const approvals = createApprovalBridge({ by: 'user' });
  const { session, workspace, deeds, dispose } = await openGovernedSession({ approvals });
  const tools = toAISDKTools(session, { names: ['fs_delete'], approvals });
  const toolApproval = aiSdkApproval(session, approvals);
  const answer = async (id: string, approved: boolean) => {
    const asking = scripted([{ id, name: 'fs_delete', args: { path: 'src/hello.txt' } }]);
    const first = await generateText({ model: asking, tools, toolApproval, prompt: 'go', stopWhen: isStepCount(3) });
    const request = first.content.find((part) => part.type === 'tool-approval-request');
    assert.ok(request, 'nobody was asked');
    assert.ok(existsSync(join(workspace, 'src/hello.txt')));
    const messages: ModelMessage[] = [
      { role: 'user', content: 'go' },
      ...first.response.messages,
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved }] },
    ];
    const model = new MockLanguageModelV4({ doGenerate: [says([{ type: 'text', text: 'done' }], 'stop')] });
    await generateText({ model, tools, toolApproval, messages });
    return outputs(model);
  };
  await answer('call_1', false);
  assert.deepEqual(deeds(), []);
  assert.equal((await answer('call_2', true))[0]?.type, 'text');
  assert.equal(existsSync(join(workspace, 'src/hello.txt')), false);
  await dispose();
});

test('what the policy denies is no question for the user', async () => {
  const approvals = createApprovalBridge();
  const { session, deeds, dispose } = await openGovernedSession({ approvals });
  const model = scripted([{ id: 'call_1', name: 'file_write', args: FORBIDDEN_WRITE }]);
  await generateText({
    model,
    tools: toAISDKTools(session, { names: ['file_write'], approvals }),
    toolApproval: aiSdkApproval(session, approvals),
    prompt: 'go',
    stopWhen: isStepCount(3),
  });
  assert.match(outputs(model)[0]?.text ?? '', /Refused \(E_POLICY\)/);
  assert.deepEqual(deeds(), []);
  await dispose();
});
