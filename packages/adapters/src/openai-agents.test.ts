import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Model, ModelRequest, ModelResponse } from '@openai/agents';
import { FORBIDDEN_WRITE, openGovernedSession, REFUSAL_WORDS } from '../test/governed-session.ts';
import { createApprovalBridge } from './approval-bridge.ts';

const { Agent, run, setTracingDisabled, Usage } = await import('@openai/agents');
const { toOpenAIAgentsTools } = await import('./openai-agents.ts');

setTracingDisabled(true);

type Call = { id: string; name: string; args: unknown };

/** A model that makes these calls in its first turn and then stops. */
class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #calls: readonly Call[];

  constructor(calls: readonly Call[]) {
    this.#calls = calls;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    this.requests.push(request);
    if (this.requests.length > 1) {
      const content = [{ type: 'output_text' as const, text: 'done' }];
      return { usage: new Usage(), output: [{ type: 'message', role: 'assistant', status: 'completed', content }] };
    }
    const output = this.#calls.map(({ id, name, args }) => ({
      type: 'function_call' as const,
      callId: id,
      name,
      status: 'completed' as const,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    }));
    return { usage: new Usage(), output };
  }

  // biome-ignore lint/correctness/useYield: never called, but the interface wants it
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new TypeError('No streams here');
  }

  outputs(): string[] {
    const input = this.requests.at(-1)?.input ?? [];
    return (Array.isArray(input) ? input : []).flatMap((item) => {
      if (item.type !== 'function_call_result') return [];
      const { output } = item;
      return [typeof output === 'string' ? output : 'text' in output ? output.text : JSON.stringify(output)];
    });
  }
}

test('a good, a bad and a denied call reach the model as text and readable refusals', async () => {
  const { session, deeds, calls, dispose } = await openGovernedSession();
  const model = new ScriptedModel([
    { id: 'call_1', name: 'file_read', args: { path: 'src/hello.txt' } },
    { id: 'call_2', name: 'file_read', args: { nope: 1 } },
    { id: 'call_3', name: 'file_write', args: FORBIDDEN_WRITE },
    { id: 'call_4', name: 'file_read', args: '{"path":' },
  ]);
  const tools = toOpenAIAgentsTools(session, { names: ['file_read', 'file_write'] });
  const result = await run(new Agent({ name: 'a', model, tools }), 'go');
  assert.equal(result.finalOutput, 'done');
  const [good, bad, denied, broken] = model.outputs();
  assert.match(good ?? '', /^src\/hello\.txt: 1 line, 6 bytes, sha256 \w{64}\nhello$/);
  assert.match(bad ?? '', /Required arguments are missing for file_read: path/);
  for (const words of REFUSAL_WORDS) assert.match(denied ?? '', words);
  assert.match(broken ?? '', /try again with valid JSON/);
  assert.deepEqual(
    deeds().map((record) => record.kind),
    ['intent', 'result'],
  );
  assert.ok(calls().some((record) => record.kind === 'requested' && record.request_id === 'call_3'));
  await dispose();
});

test("every tool that can be strict passes the framework's own check, and arguments are restored", async () => {
  const { session, dispose } = await openGovernedSession();
  const tools = toOpenAIAgentsTools(session, { strict: true });
  assert.equal(tools.length, session.tools().length);
  const args = { path: 'src/hello.txt', max_bytes: null, offset: null, limit: 1, encoding: null, line_numbers: null };
  const model = new ScriptedModel([{ id: 'call_1', name: 'file_read', args }]);
  await run(new Agent({ name: 'a', model, tools }), 'go');
  assert.match(model.outputs()[0] ?? '', /lines 1 to 1 of 1,/);
  const shown = model.requests[0]?.tools.find((tool) => tool.name === 'file_read');
  assert.ok(shown?.type === 'function' && shown.strict);
  assert.deepEqual(shown.parameters.required, ['path', 'max_bytes', 'offset', 'limit', 'encoding', 'line_numbers']);
  await dispose();
});

test('a call the policy asks about interrupts the run, and runs only after a yes', async () => {
  const approvals = createApprovalBridge({ by: 'user' });
  const { session, workspace, deeds, dispose } = await openGovernedSession({ approvals });
  const tools = toOpenAIAgentsTools(session, { names: ['fs_delete', 'file_read'], approvals });
  const model = new ScriptedModel([
    { id: 'call_1', name: 'fs_delete', args: { path: 'src/hello.txt' } },
    { id: 'call_2', name: 'fs_delete', args: { path: 'src' } },
  ]);
  const agent = new Agent({ name: 'a', model, tools });
  const first = await run(agent, 'go');
  const [yes, no] = first.interruptions;
  assert.ok(yes && no && first.interruptions.length === 2);
  assert.deepEqual(deeds(), []);
  first.state.approve(yes);
  first.state.reject(no);
  const second = await run(agent, first.state);
  assert.equal(second.finalOutput, 'done');
  assert.equal(existsSync(join(workspace, 'src/hello.txt')), false);
  assert.ok(existsSync(join(workspace, 'src')));
  assert.equal(deeds().length, 2);
  await dispose();
});
