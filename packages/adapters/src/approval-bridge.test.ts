import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openGovernedSession } from '../test/governed-session.ts';
import { createApprovalBridge } from './approval-bridge.ts';
import { callTool } from './call-tool.ts';

const args = { path: 'src/hello.txt' };
const call = { name: 'fs_delete', args, callId: 'call_1' };

test("what was asked about runs with the framework's yes, once", async () => {
  const bridge = createApprovalBridge({ by: 'ann' });
  const { session, workspace, calls, dispose } = await openGovernedSession({ approvals: bridge });
  const run = () => bridge.execute(session, call, () => callTool(session, call));
  assert.equal((await bridge.judge(session, call)).verdict, 'ask');
  assert.equal((await run()).ok, true);
  assert.equal(existsSync(join(workspace, args.path)), false);
  const answered = calls().find((record) => record.kind === 'approval' && record.phase === 'answered');
  assert.partialDeepStrictEqual(answered, { answer: 'approved', answered_by: 'ann' });
  assert.match((await run()).text, /no one was asked/);
  await dispose();
});

test('a yes does not reach other arguments, other calls or calls that no question was about', async () => {
  const bridge = createApprovalBridge();
  const { session, workspace, deeds, dispose } = await openGovernedSession({ approvals: bridge });
  const execute = (changed: Partial<typeof call>) => {
    const other = { ...call, ...changed };
    return bridge.execute(session, other, () => callTool(session, other));
  };
  assert.match((await execute({})).text, /no one was asked/);
  await bridge.judge(session, call);
  assert.equal((await execute({ args: { path: 'src' } })).ok, false);
  assert.equal((await execute({ callId: 'call_2' })).ok, false);
  assert.equal((await callTool(session, call)).ok, false);
  assert.deepEqual(deeds(), []);
  assert.ok(existsSync(join(workspace, args.path)));
  await dispose();
});

test('allowed and denied calls are no questions, and another approver hears the rest', async () => {
  const bridge = createApprovalBridge({ otherwise: { ask: async () => ({ answer: 'approved', by: 'bob' }) } });
  const { session, dispose } = await openGovernedSession({ approvals: bridge });
  const judge = async (name: string, given: object) => (await bridge.judge(session, { name, args: given })).verdict;
  assert.equal(await judge('file_read', args), 'allow');
  assert.equal(await judge('file_read', { path: '../x' }), 'deny');
  assert.equal((await callTool(session, call)).ok, true);
  await session.close();
  assert.equal(await judge('file_read', args), 'deny');
  await dispose();
});
