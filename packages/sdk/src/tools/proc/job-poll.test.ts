import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { openScratchRuntime, type ScratchRuntime } from '../../testing/scratch-runtime.ts';

const REGISTRY = { file: 'ops.yaml', text: "version: 1\nshell_allow: ['^cat$', '^sleep [0-9]+$', '^seq [0-9]+$']\n" };

async function withShell(use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime({ registry: REGISTRY });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

async function startJob({ session }: ScratchRuntime, cmd: string): Promise<string> {
  const response: ToolResponse = await session.call('shell_exec', { cmd, yield_after_ms: 0 });
  const { job } = response.data as { job?: string };
  assert.ok(job !== undefined, JSON.stringify(response));
  return job;
}

describe('job_poll', () => {
  test('hands out what was printed since the last poll, then how the command ended', () =>
    withShell(async (scratch) => {
      const { session } = scratch;
      const job = await startJob(scratch, 'cat');
      await session.call('job_input', { job, text: 'typed later\n' });
      const poll = async () =>
        (await session.call('job_poll', { job, wait_ms: 10_000 })).data as Record<string, unknown>;
      const news = await poll();
      assert.deepEqual([news['state'], news['stdout']], ['running', 'typed later\n']);
      await session.call('job_input', { job, end: true });
      const end = await poll();
      assert.deepEqual([end['state'], end['code'], end['stdout']], ['exited', 0, '']);
    }));

  test('an unknown job is E_VALIDATION_FAIL, and a job of another session is unknown', () =>
    withShell(async (scratch) => {
      const job = await startJob(scratch, 'sleep 60');
      const other = await scratch.runtime.openSession();
      assert.equal((await other.call('job_poll', { job })).errors[0]?.code, 'E_VALIDATION_FAIL');
      assert.equal((await scratch.session.call('job_poll', { job })).ok, true);
    }));
});
