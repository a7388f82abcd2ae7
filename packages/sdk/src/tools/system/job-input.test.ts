import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startJob, withJobs } from '../../../test/job-scene.ts';

describe('job_input', () => {
  test('writes bytes, closes the input when asked, and is refused once the job has ended', () =>
    withJobs(async (scratch) => {
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
    withJobs(async (scratch) => {
      const job = await startJob(scratch, 'cat');
      await scratch.session.call('job_input', { job, text: 'very private words' });
      assert.doesNotMatch(JSON.stringify([...scratch.runtime.records()]), /very private words/);
    }));
});
