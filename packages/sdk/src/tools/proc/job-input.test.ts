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

describe('job_input', () => {
  test('writes bytes, closes the input when asked, and is refused once the job has ended', () =>
    withShell(async (scratch) => {
      const { session } = scratch;
      const job = await startJob(scratch, 'cat');
      assert.deepEqual((await session.call('job_input', { job, text: 'ü' })).data, { job, written: 2 });
      await session.call('job_input', { job, end: true });
      for (let state = 'running'; state === 'running'; ) {
        state = ((await session.call('job_poll', { job, wait_ms: 5_000 })).data as { state: string }).state;
      }
      assert.equal((await session.call('job_input', { job, text: 'x' })).errors[0]?.code, 'E_SHELL');
    }));

  test('what was typed is not in the journal', () =>
    withShell(async (scratch) => {
      const job = await startJob(scratch, 'cat');
      await scratch.session.call('job_input', { job, text: 'very private words' });
      assert.doesNotMatch(JSON.stringify([...scratch.runtime.records()]), /very private words/);
    }));
});
