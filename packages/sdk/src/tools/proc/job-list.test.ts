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

describe('job_list', () => {
  test('shows the jobs of its own session, running and finished', () =>
    withShell(async (scratch) => {
      const sleeper = await startJob(scratch, 'sleep 63');
      const stopped = await startJob(scratch, 'cat');
      await scratch.session.call('job_stop', { job: stopped });
      const { jobs } = (await scratch.session.call('job_list', {})).data as { jobs: Record<string, unknown>[] };
      assert.deepEqual(
        jobs.map(({ job, command, state }) => [job, command, state]),
        [
          [sleeper, 'sleep 63', 'running'],
          [stopped, 'cat', 'killed'],
        ],
      );
      const other = await scratch.runtime.openSession();
      assert.deepEqual((await other.call('job_list', {})).data, { jobs: [] });
    }));
});
