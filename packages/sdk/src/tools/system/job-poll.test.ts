import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { startJob, withJobs } from '../../../test/job-scene.ts';
import type { Session } from '../../session/session.ts';

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

  test('a job that printed more than an answer may carry ends with an artifact, and no descriptor stays open [S2-22]', () =>
    withJobs(async (scratch) => {
      const { session } = scratch;
      // What the first program brings along, the watcher over all of them, stays for the next.
      await endOf(session, await startJob(scratch, 'seq 1'));
      const before = readdirSync('/proc/self/fd').length;
      const polled = await endOf(session, await startJob(scratch, 'seq 1000000'));
      const page = await session.call('artifact_read', { artifact: polled['stdout_artifact'], offset: -8 });
      assert.equal((page.data as { content: string }).content, '1000000\n', JSON.stringify(page.errors));
      assert.ok(readdirSync('/proc/self/fd').length <= before);
    }));

  test('an unknown job is E_VALIDATION_FAIL, and a job of another session is unknown', () =>
    withJobs(async (scratch) => {
      const job = await startJob(scratch, 'sleep 60');
      const other = await scratch.runtime.openSession();
      assert.equal((await other.call('job_poll', { job })).errors[0]?.code, 'E_VALIDATION_FAIL');
      assert.equal((await scratch.session.call('job_poll', { job })).ok, true);
    }));
});

async function endOf(session: Session, job: string): Promise<Record<string, unknown>> {
  for (;;) {
    const polled = (await session.call('job_poll', { job, wait_ms: 5_000 })).data as Record<string, unknown>;
    if (polled['state'] === 'exited') return polled;
  }
}
