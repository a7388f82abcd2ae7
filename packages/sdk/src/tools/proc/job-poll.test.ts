import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startJob, withJobs } from '../../../test/job-scene.ts';

describe('job_poll', () => {
  test('hands out what was printed since the last poll, then how the command ended', () =>
    withJobs(async (scratch) => {
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
    withJobs(async (scratch) => {
      const job = await startJob(scratch, 'sleep 60');
      const other = await scratch.runtime.openSession();
      assert.equal((await other.call('job_poll', { job })).errors[0]?.code, 'E_VALIDATION_FAIL');
      assert.equal((await scratch.session.call('job_poll', { job })).ok, true);
    }));
});
