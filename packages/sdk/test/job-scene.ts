/** A runtime that may run a few harmless commands, and jobs in it. */
import assert from 'node:assert/strict';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';

export const JOB_REGISTRY = {
  file: 'ops.yaml',
  text: "version: 1\nshell_allow: ['^cat$', '^sleep [0-9]+$', '^seq [0-9]+$', '^head -n 1$', '^cat big.txt -$', '^python3 serve.py$']\n",
};

export async function withJobs(use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime({ registry: JOB_REGISTRY });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

export async function startJob({ session }: ScratchRuntime, cmd: string): Promise<string> {
  const response = await session.call('shell_exec', { cmd, yield_after_ms: 0 });
  const { job } = response.data as { job?: string };
  assert.ok(job !== undefined, JSON.stringify(response));
  return job;
}
