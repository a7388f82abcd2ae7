/** A few calls of every kind under a fixed key, clock and ids, so that their records are the same to the byte. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type RuntimeOptions } from '../src/runtime.ts';

/** One line for each record but those of the session, which name what else is installed. */
export async function recordScenario(options: Partial<RuntimeOptions> = {}): Promise<readonly string[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-recorded-'));
  const [workspace, state] = [join(scratch, 'workspace'), join(scratch, 'state')];
  mkdirSync(workspace);
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(join(state, 'journal.key'), Buffer.alloc(32, 7), { mode: 0o600 });
  let ids = 0;
  const runtime = await createRuntime({
    workspace,
    state,
    policy: {
      evaluatePreTool: ({ paths, policyRefs }) => ({
        stage: 'pre_tool',
        decision: { type: paths.includes('ask.txt') ? 'ask' : 'allow', reason: { code: 'scenario' } },
        policy_refs: policyRefs,
        privacy: 'internal',
        retention: 'run_scoped',
      }),
      evaluatePostTool: ({ policyRefs }) => ({
        stage: 'post_tool',
        decision: { type: 'allow', reason: { code: 'scenario' } },
        policy_refs: policyRefs,
        privacy: 'internal',
        retention: 'run_scoped',
      }),
    },
    approvals: { ask: async () => ({ answer: 'approved', by: 'somebody' }) },
    budget: { reserve: () => {}, spend: () => {} },
    ...options,
    ports: {
      clock: { now: () => 1_000_000, monotonic: () => 5 },
      newId: () => `id-${++ids}`,
      wrapParts: (parts) => ({ ...parts, instanceId: 'instance-1' }),
    },
  });
  const session = await runtime.openSession({ actor: 'somebody', client: 'scenario/1' });
  await session.call('file_write', { path: 'a.txt', content: 'A' }, { requestId: 'r1', idempotencyKey: 'k1' });
  await session.call('file_write', { path: 'a.txt', content: 'A' }, { requestId: 'r2', idempotencyKey: 'k1' });
  await session.call('file_read', { path: 'a.txt' }, { requestId: 'r3' });
  await session.call('file_write', { path: 'ask.txt', content: 'B' }, { requestId: 'r4' });
  await session.call('file_read', { path: '../a.txt' }, { requestId: 'r5' });
  await session.call('file_read' as string, { path: 7 }, { requestId: 'r6' });
  await session.call('no_such_tool', {}, { requestId: 'r7' });
  const records = [...runtime.records()].filter(({ kind }) => kind !== 'session');
  await runtime.close();
  rmSync(scratch, { recursive: true, force: true });
  return records.map((record) => JSON.stringify(record));
}
