import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startJob, withJobs } from '../../../test/job-scene.ts';

describe('job_list', () => {
  test('shows the jobs of its own session, running and finished', () =>
    withJobs(async (scratch) => {
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
