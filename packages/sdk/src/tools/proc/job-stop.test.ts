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

describe('job_stop', () => {
  test('kills the command and leaves no process behind', () =>
    withShell(async (scratch) => {
      const { session } = scratch;
      const job = await startJob(scratch, 'sleep 62');
      assert.deepEqual((await session.call('job_stop', { job })).data, { job, state: 'killed', code: null });
      const rows = (await session.call('proc_list', { filter: 'sleep 62' })).data as { processes: unknown[] };
      assert.deepEqual(rows.processes, []);
      assert.equal((await session.call('job_stop', { job })).ok, true, 'stopping twice is harmless');
    }));

  test('closing the session ends its jobs', async () => {
    const scratch = await openScratchRuntime({ registry: REGISTRY });
    await startJob(scratch, 'sleep 61');
    await scratch.session.close();
    const observer = await scratch.runtime.openSession();
    const rows = (await observer.call('proc_list', { filter: 'sleep 61' })).data as { processes: unknown[] };
    assert.deepEqual(rows.processes, []);
    await scratch.dispose();
  });
});
