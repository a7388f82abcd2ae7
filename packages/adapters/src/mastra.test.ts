import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { FORBIDDEN_WRITE, openGovernedSession, REFUSAL_WORDS } from '../test/governed-session.ts';
import { createApprovalBridge } from './approval-bridge.ts';
import type { ToolCallResult } from './call-tool.ts';
import { type MastraTools, toMastraTools } from './mastra.ts';

/** As an agent of Mastra calls it. */
async function execute(tools: MastraTools, name: string, args: unknown, toolCallId: string): Promise<ToolCallResult> {
  const agent = { agentId: 'a', toolCallId, messages: [], suspend: async () => {} };
  return (await tools[name]?.execute?.(args, { agent } as never)) as ToolCallResult;
}

const text = (tools: MastraTools, result: ToolCallResult) =>
  tools['file_read']?.toModelOutput?.(result) as { type: string; value: string };

test('a good, a bad and a denied call reach the model as text and readable refusals', async () => {
  const { session, deeds, calls, dispose } = await openGovernedSession();
  const tools = toMastraTools(session, { names: ['file_read', 'file_write'] });
  const good = text(tools, await execute(tools, 'file_read', { path: 'src/hello.txt' }, 'call_1'));
  const bad = text(tools, await execute(tools, 'file_read', { nope: 1 }, 'call_2'));
  const denied = text(tools, await execute(tools, 'file_write', FORBIDDEN_WRITE, 'call_3'));
  assert.deepEqual([good.type, bad.type, denied.type], ['text', 'error-text', 'error-text']);
  assert.match(good.value, /^src\/hello\.txt: 1 line, 6 bytes, sha256 \w{64}\nhello$/);
  assert.match(bad.value, /Required arguments are missing for file_read: path/);
  for (const words of REFUSAL_WORDS) assert.match(denied.value, words);
  assert.deepEqual(
    deeds().map((record) => record.kind),
    ['intent', 'result'],
  );
  const requested = calls().flatMap((record) => (record.kind === 'requested' ? [record.request_id] : []));
  assert.deepEqual(requested, ['call_1', 'call_2', 'call_3']);
  await dispose();
});

test('the model is shown the full schema', async () => {
  const { session, dispose } = await openGovernedSession();
  const tools = toMastraTools(session, { names: ['file_read'] });
  const shown = tools['file_read']?.inputSchema?.['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  assert.deepEqual(shown?.['required'], ['path']);
  await dispose();
});

test('requireApproval says which calls the policy asks about; they run only in an agent that asked', async () => {
  const approvals = createApprovalBridge({ by: 'user' });
  const { session, workspace, deeds, dispose } = await openGovernedSession({ approvals });
  const tools = toMastraTools(session, { names: ['fs_delete', 'file_read'], approvals });
  const isAsked = async (name: string, args: unknown) => {
    const require = tools[name]?.requireApproval;
    return typeof require === 'function' ? require(args) : require;
  };
  const args = { path: 'src/hello.txt' };
  assert.match((await execute(tools, 'fs_delete', args, 'call_1')).text, /no one was asked/);
  assert.equal(await isAsked('file_read', args), false);
  assert.equal(await isAsked('fs_delete', args), true);
  const direct = (await tools['fs_delete']?.execute?.(args, {} as never)) as ToolCallResult;
  assert.equal(direct.ok, false);
  assert.deepEqual(deeds(), []);
  assert.equal((await execute(tools, 'fs_delete', args, 'call_2')).ok, true);
  assert.equal(existsSync(join(workspace, args.path)), false);
  await dispose();
});
