import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Session } from '../src/session/session.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { isRunning, until } from './waiting-places.ts';

const ALLOW = "version: 1\nshell_allow: ['^sleep [0-9]+$', '^true$', '^cat$', '^tail -f early.txt$']\n";

async function withRegistry(more: string, use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime({ registry: { file: 'ops.yaml', text: `${ALLOW}${more}` } });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

const start = (session: Session, args: object): Promise<ToolResponse> =>
  session.call('shell_exec', { yield_after_ms: 0, ...args });
const jobOf = ({ data, errors }: ToolResponse): string => {
  const { job } = (data ?? {}) as { job?: string };
  assert.ok(job !== undefined, JSON.stringify(errors));
  return job;
};

/** Becomes a job after it has printed, whatever that takes. */
async function startAfter(session: Session, yieldMs: number, printed: Promise<void>): Promise<ToolResponse> {
  const starting = session.call('shell_exec', { cmd: 'tail -f early.txt', yield_after_ms: yieldMs });
  const hasPrinted = await Promise.race([printed.then(() => true), starting.then(() => false)]);
  return hasPrinted ? starting : startAfter(session, yieldMs * 2, printed);
}

/** A busy machine may need longer to start a command than it is given. */
async function startInTime(session: Session, args: object, timeoutMs: number): Promise<ToolResponse> {
  const answer = await start(session, { ...args, timeout_ms: timeoutMs });
  return answer.ok ? answer : startInTime(session, args, timeoutMs * 2);
}

async function untilEnded(session: Session, job: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { data } = await session.call('job_poll', { job, wait_ms: 5_000 });
    const polled = data as Record<string, unknown>;
    if (polled['state'] !== 'running') return polled;
  }
}

describe('limits of jobs', () => {
  test('timeout_ms bounds the whole life: the tree is killed, and the job says that its time was up', () =>
    withRegistry('', async ({ session }) => {
      const sleep = `${200_000_000 + process.pid}`;
      const job = jobOf(await startInTime(session, { cmd: `sleep ${sleep} | sleep ${sleep}` }, 2_000));
      const end = await untilEnded(session, job);
      assert.deepEqual([end['state'], end['code']], ['timed_out', null]);
      await until(() => !isRunning(sleep));
      const { data } = await session.call('job_list', {});
      assert.equal((data as { jobs: { state: string }[] }).jobs[0]?.state, 'timed_out');
    }));

  test("the registry's maximum bounds a job too; one that ends in time has exited", () =>
    withRegistry('tools: { shell_exec: { max_timeout_ms: 10000 } }\n', async ({ session }) => {
      const late = jobOf(await start(session, { cmd: 'sleep 600', timeout_ms: 600_000 }));
      assert.equal((await untilEnded(session, late))['state'], 'timed_out');
      const quick = jobOf(await start(session, { cmd: 'true' }));
      assert.equal((await untilEnded(session, quick))['state'], 'exited');
    }));

  test('a session starts no more jobs than it may, until one of them has ended', () =>
    withRegistry('limits: { max_jobs: 2 }\n', async ({ session }) => {
      const answers = await Promise.all([1, 2, 3, 4].map(() => start(session, { cmd: 'sleep 600' })));
      const refused = answers.filter(({ ok }) => !ok);
      assert.deepEqual(
        refused.map(({ errors }) => [errors[0]?.code, errors[0]?.details?.['reason']]),
        [1, 2].map(() => ['E_POLICY', 'too_many_jobs']),
      );
      assert.match(String(refused[0]?.errors[0]?.details?.['next']), /job_stop/);
      // A command that is no job is not counted, and neither is one that ends before it would become one.
      assert.equal((await session.call('shell_exec', { cmd: 'true' })).ok, true);
      const [first] = answers.filter(({ ok }) => ok).map(jobOf);
      assert.equal((await session.call('job_stop', { job: first ?? 'none' })).ok, true);
      for (let nth = 0; nth < 3; nth++) {
        assert.equal((await session.call('shell_exec', { cmd: 'true', yield_after_ms: 60_000 })).ok, true);
      }
      jobOf(await start(session, { cmd: 'sleep 600' }));
    }));

  test('sessions together start no more jobs than the workspace may have', () =>
    withRegistry('limits: { max_workspace_jobs: 1 }\n', async ({ runtime, session }) => {
      const job = jobOf(await start(session, { cmd: 'sleep 600' }));
      const other = await runtime.openSession();
      const refused = await start(other, { cmd: 'sleep 600' });
      assert.equal(refused.errors[0]?.details?.['field'], 'limits.max_workspace_jobs');
      await session.call('job_stop', { job });
      jobOf(await start(other, { cmd: 'sleep 600' }));
      await other.close();
      jobOf(await start(session, { cmd: 'sleep 600' }));
    }));

  test('what a command printed before it became a job is in its answer, once, and polls go on after it', () =>
    withRegistry('', async ({ session, workspace }) => {
      writeFileSync(join(workspace, 'early.txt'), 'early\n');
      const printed = new Promise<void>((resolve) => {
        session.listen(({ message }) => message.progress.message.includes('early') && resolve());
      });
      const started = await startAfter(session, 3_000, printed);
      const job = jobOf(started);
      const { stdout, stdout_bytes: bytes } = started.data as { stdout: string; stdout_bytes: number };
      assert.deepEqual([stdout, bytes], ['early\n', 6]);
      appendFileSync(join(workspace, 'early.txt'), 'later\n');
      const poll = await session.call('job_poll', { job, wait_for_text: 'later\n', timeout_ms: 60_000 });
      const data = poll.data as Record<string, unknown>;
      assert.deepEqual([data['found'], data['stdout'], data['stdout_from']], [true, 'later\n', 6]);
    }));

  test('job_list says how long each job may still run', () =>
    withRegistry('', async ({ session }) => {
      jobOf(await start(session, { cmd: 'sleep 600', timeout_ms: 3_000_000 }));
      const { data } = await session.call('job_list', {});
      const [listed] = (data as { jobs: { remaining_ms: number; keep: boolean }[] }).jobs;
      assert.ok((listed?.remaining_ms ?? 0) > 0 && (listed?.remaining_ms ?? 0) <= 3_000_000);
      assert.equal(listed?.keep, false);
    }));
});
