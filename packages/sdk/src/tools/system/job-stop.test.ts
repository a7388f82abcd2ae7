import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { JOB_REGISTRY, startJob, withJobs } from '../../../test/job-scene.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

describe('job_stop', () => {
  test('kills the command and leaves no process behind', () =>
    withJobs(async (scratch) => {
      const { session } = scratch;
      const job = await startJob(scratch, 'sleep 62');
      assert.deepEqual((await session.call('job_stop', { job })).data, { job, state: 'killed', code: null });
      const rows = (await session.call('proc_list', { filter: 'sleep 62' })).data as { processes: unknown[] };
      assert.deepEqual(rows.processes, []);
      assert.equal((await session.call('job_stop', { job })).ok, true, 'stopping twice is harmless');
    }));

  test('closing the session ends its jobs', async () => {
    const scratch = await openScratchRuntime({ registry: JOB_REGISTRY });
    await startJob(scratch, 'sleep 61');
    await scratch.session.close();
    const observer = await scratch.runtime.openSession();
    const rows = (await observer.call('proc_list', { filter: 'sleep 61' })).data as { processes: unknown[] };
    assert.deepEqual(rows.processes, []);
    await scratch.dispose();
  });
});
