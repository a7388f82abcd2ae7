import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startJob, withJobs } from '../../../test/job-scene.ts';
import type { Session } from '../../session/session.ts';

describe('job_poll', () => {
  test('returns what was printed since the last poll, then how the command ended', () =>
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
      const { session, workspace } = scratch;
      writeFileSync(join(workspace, 'big.txt'), Array.from({ length: 1_000_000 }, (_, at) => `${at + 1}\n`).join(''));
      // What the first program brings along, the watcher over all of them, stays for the next.
      // Both wait for their input, so they are jobs however slow the machine is.
      const runJob = async (cmd: string): Promise<Record<string, unknown>> => {
        const job = await startJob(scratch, cmd);
        await session.call('job_input', { job, end: true });
        return endOf(session, job);
      };
      await runJob('cat');
      const before = readdirSync('/proc/self/fd').length;
      const polled = await runJob('cat big.txt -');
      const page = await session.call('artifact_read', { artifact: String(polled['stdout_artifact']), offset: -8 });
      assert.equal((page.data as { content: string }).content, '1000000\n', JSON.stringify(page.errors));
      assert.ok(readdirSync('/proc/self/fd').length <= before);
    }));

  test('the answer of shell_exec and all polls, put together, are what the command printed, byte for byte (deep)', () =>
    withJobs(async ({ session, workspace }) => {
      const text = 'größer als 😀 zwei €\n'.repeat(6_000);
      writeFileSync(join(workspace, 'big.txt'), text);
      for (const yieldMs of [0, 1, 30, 400]) {
        const started = await session.call('shell_exec', { cmd: 'cat big.txt -', yield_after_ms: yieldMs });
        const first = started.data as { job: string; stdout: string; stdout_bytes: number };
        let [printed, to] = [first.stdout, first.stdout_bytes];
        await session.call('job_input', { job: first.job, text: 'typed' });
        await session.call('job_input', { job: first.job, end: true });
        for (let state = 'running'; state === 'running'; ) {
          const { data } = await session.call('job_poll', { job: first.job, wait_ms: 60_000 });
          const polled = data as { state: string; stdout: string; stdout_from: number; missed_bytes: number };
          assert.deepEqual([polled.stdout_from, polled.missed_bytes], [to, 0]);
          printed += polled.stdout;
          to += Buffer.byteLength(polled.stdout);
          ({ state } = polled);
        }
        assert.equal(printed, `${text}typed`);
      }
    }));

  test('what is too much for one poll is named exactly, and the artifact has it while the job runs (deep)', () =>
    withJobs(async (scratch) => {
      const { session } = scratch;
      // Nothing is printed before the yield, so that all of it comes between two polls.
      const job = await startJob(scratch, 'head -n 1; seq 100000; cat');
      await session.call('job_input', { job, text: 'go\n' });
      const wait = { job, wait_for_text: '\n100000\n', timeout_ms: 300_000 };
      const news = (await session.call('job_poll', wait)).data as Record<string, unknown>;
      const [from, missed] = [Number(news['stdout_from']), Number(news['missed_bytes'])];
      assert.deepEqual([news['found'], news['state']], [true, 'running']);
      assert.equal(from + Buffer.byteLength(String(news['stdout'])), 588_898);
      assert.ok(missed > 0);
      const gap = { artifact: String(news['stdout_artifact']), offset: from - 8, max_bytes: 16 };
      const page = (await session.call('artifact_read', gap)).data as { content: string; total_bytes: number };
      assert.equal(page.total_bytes, 588_898);
      assert.ok(page.content.endsWith(String(news['stdout']).slice(0, 8)));
      await session.call('job_stop', { job });
    }));

  test('waits for a text that was printed before or is printed later, and says when it did not come', () =>
    withJobs(async (scratch) => {
      const { session } = scratch;
      const job = await startJob(scratch, 'cat');
      const wait = async (text: string, timeoutMs: number) =>
        (await session.call('job_poll', { job, wait_for_text: text, timeout_ms: timeoutMs })).data as Record<
          string,
          unknown
        >;
      const waiting = wait('ready on 3000', 300_000);
      for (const part of ['starting\nrea', 'dy on 30', '00\n']) await session.call('job_input', { job, text: part });
      const ready = await waiting;
      assert.deepEqual([ready['found'], ready['state']], [true, 'running']);
      assert.equal((await wait('ready on', 300_000))['found'], true, 'handed out already');
      assert.equal((await wait('never', 1))['found'], false);
      const ending = wait('never', 300_000);
      await session.call('job_input', { job, end: true });
      const ended = await ending;
      assert.deepEqual([ended['found'], ended['state']], [false, 'exited']);
    }));

  test('waits for a port of the job, in its own network namespace, and takes no other server for it', () =>
    withJobs(async (scratch) => {
      const { session, workspace } = scratch;
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const lines = [
        'import socket',
        'input()',
        's = socket.socket()',
        `s.bind(("127.0.0.1", ${port}))`,
        's.listen()',
        'input()',
      ];
      writeFileSync(join(workspace, 'serve.py'), lines.join('\n'));
      try {
        const job = await startJob(scratch, 'python3 serve.py');
        const wait = async (timeoutMs: number) =>
          (await session.call('job_poll', { job, wait_for_port: port, timeout_ms: timeoutMs })).data as {
            found: boolean;
          };
        assert.equal((await wait(300)).found, false, 'the server of the test is none of the job’s');
        await session.call('job_input', { job, text: 'go\n' });
        assert.equal((await wait(300_000)).found, true);
      } finally {
        server.close();
      }
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
