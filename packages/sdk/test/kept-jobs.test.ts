/** Jobs that outlive their session: only where the registry allows it, for the same actor, and never past the runtime. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Session } from '../src/session/session.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { isRunning, until } from './waiting-places.ts';

const text = (more: string): string => `version: 1\nshell_allow: ['^sleep [0-9]+$', '^cat$']\n${more}`;

async function withLimit(max: number, use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime({
    registry: { file: 'ops.yaml', text: text(`limits: { max_kept_jobs: ${max} }\n`) },
  });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

const start = (session: Session, cmd: string, keep = true) =>
  session.call('shell_exec', { cmd, keep, yield_after_ms: 0 });
const jobOf = ({ data, errors }: Awaited<ReturnType<typeof start>>): string => {
  assert.deepEqual(errors, []);
  return (data as { job: string }).job;
};
const jobsOf = async (session: Session) =>
  ((await session.call('job_list', {})).data as { jobs: Record<string, unknown>[] }).jobs;

describe('a kept job', () => {
  test('is refused by default, with the key that would allow it; without keep the same command starts', () =>
    withLimit(0, async ({ session }) => {
      const refused = await start(session, 'sleep 600');
      assert.equal(refused.errors[0]?.code, 'E_POLICY');
      assert.equal(refused.errors[0]?.details?.['field'], 'limits.max_kept_jobs');
      jobOf(await start(session, 'sleep 600', false));
    }));

  test('goes on after its session and is the next session’s of the same actor, and of no other', () =>
    withLimit(1, async ({ runtime, session }) => {
      const job = jobOf(await start(session, 'cat'));
      const other = `${310_000_000 + process.pid}`;
      jobOf(await start(session, `sleep ${other}`, false));
      assert.equal((await start(session, 'cat')).errors[0]?.details?.['reason'], 'too_many_kept_jobs');
      await session.close();
      await until(() => !isRunning(other));
      const stranger = await runtime.openSession({ actor: 'someone-else' });
      assert.deepEqual(await jobsOf(stranger), []);
      assert.equal((await stranger.call('job_poll', { job })).errors[0]?.code, 'E_VALIDATION_FAIL');
      const next = await runtime.openSession();
      assert.deepEqual(
        (await jobsOf(next)).map(({ job: id, state, keep }) => [id, state, keep]),
        [[job, 'running', true]],
      );
      await next.call('job_input', { job, text: 'still here\n', end: true });
      const polled = await next.call('job_poll', { job, wait_for_text: 'here\n' });
      const { stdout, found } = polled.data as { stdout: string; found: boolean };
      assert.deepEqual([stdout, found], ['still here\n', true]);
      const ended = async () =>
        ((await next.call('job_poll', { job, wait_ms: 60_000 })).data as { state: string }).state !== 'running';
      while (!(await ended())) assert.equal((await jobsOf(next)).length, 1);
      jobOf(await start(next, 'cat'));
    }));

  test('ends with the runtime', async () => {
    const sleep = `${320_000_000 + process.pid}`;
    await withLimit(2, async ({ session }) => {
      jobOf(await start(session, `sleep ${sleep}`));
      await session.close();
      assert.ok(isRunning(sleep));
    });
    assert.ok(!isRunning(sleep));
  });

  test('however sessions and runtime close while jobs start, nothing of them is left running (deep)', async () => {
    const sleeps = Array.from({ length: 12 }, (_, nth) => `${330_000_000 + process.pid * 20 + nth}`);
    await withLimit(100, async ({ runtime, session }) => {
      const sessions = [session, await runtime.openSession(), await runtime.openSession()];
      const starting = sleeps.map((sleep, nth) =>
        start(sessions[nth % 3] ?? session, `sleep ${sleep} | sleep ${sleep}`, nth % 2 === 0).catch(() => undefined),
      );
      await Promise.race(starting);
      await sessions[0]?.close();
      await Promise.race([sessions[1]?.close(), starting[11]]);
    });
    assert.deepEqual(sleeps.filter(isRunning), []);
  });
});
