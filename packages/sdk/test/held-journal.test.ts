/**
 * Another process holds the write lock of the journal. Nothing of this process stands still meanwhile: the test itself
 * runs in it, and it is the test that frees the lock.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ToolResponse } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool } from '../src/contracts/tool.ts';
import { openJournal } from '../src/journal/store/journal-sqlite.ts';
import { openStateFolder } from '../src/platform/state/state-folder.ts';
import { startJournalHolder } from '../src/testing/faulty-parts.ts';
import { createCounter, nothing } from '../src/testing/probe-tools.ts';
import { sampleIntent } from '../src/testing/sample-records.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const root = mkdtempSync(join(tmpdir(), 'held-journal-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** Long enough for a lock that the test frees, or short enough to be exceeded on purpose. */
const PATIENT = 60_000;
const IMPATIENT = 100;

function stalling() {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const tool = defineTool({
    ...createCounter('probe_stall').tool,
    args: z.strictObject({}),
    run: async () => {
      started.resolve();
      await finish.promise;
      return { done: true };
    },
  });
  return { tool, started: started.promise, finish: finish.resolve };
}

async function openScene(t: TestContext, busyTimeoutMs: number) {
  const folder = mkdtempSync(join(root, 'state-'));
  const journal = await openJournal(openStateFolder(folder), { busyTimeoutMs });
  const counter = createCounter();
  const stall = stalling();
  const scratch = await openScratchRuntime({ ports: { journal }, tools: [counter.tool, stall.tool, nothing] });
  const holder = startJournalHolder(folder);
  t.after(async () => {
    await holder.kill();
    await scratch.dispose();
  });
  const count = (more: object = {}) => scratch.session.call('probe_count', {}, more);
  return { ...scratch, folder, holder, count, runs: counter.runs, stall };
}

const busyReason = ({ errors }: ToolResponse) => errors[0]?.details?.['reason'];

describe('while another process holds the write lock', () => {
  for (const how of ['busy', 'stopped'] as const) {
    test(`${how}: the event loop goes on, nothing runs, and calls succeed once the lock is free`, async (t) => {
      const { holder, count, runs, runtime } = await openScene(t, PATIENT);
      await holder.hold();
      if (how === 'stopped') process.kill(holder.pid, 'SIGSTOP');
      let answered = 0;
      const calls = Array.from({ length: 20 }, (_, at) =>
        count(at % 2 === 0 ? {} : { idempotencyKey: `k${at}` }).finally(() => {
          answered += 1;
        }),
      );
      for (let turns = 0; turns < 1000; turns++) await turn();
      assert.deepEqual([answered, runs.count], [0, 0]);
      assert.equal(runtime.head().seq, 1, 'reading goes on');
      if (how === 'stopped') await holder.kill();
      else await holder.release();
      assert.deepEqual(
        (await Promise.all(calls)).map(({ ok }) => ok),
        calls.map(() => true),
      );
      assert.equal(runs.count, 20);
      assert.equal(runtime.verify().ok, true);
    });
  }

  test('calls fail clearly after the limit, nothing of them runs, and the key is free afterwards', async (t) => {
    const { holder, count, runs } = await openScene(t, IMPATIENT);
    await holder.hold();
    const refused = await Promise.all([count(), count({ idempotencyKey: 'k' })]);
    for (const response of refused) {
      assert.equal(response.ok, false);
      assert.match(response.errors[0]?.message ?? '', /^Journal is busy: another process holds it/);
      const { retry, next } = response.errors[0]?.details ?? {};
      assert.deepEqual([busyReason(response), retry, typeof next], ['journal_busy', 'retryable', 'string']);
    }
    assert.equal(runs.count, 0);
    await holder.release();
    assert.equal((await count({ idempotencyKey: 'k' })).ok, true);
    assert.equal(runs.count, 1);
  });

  for (const keyed of [{}, { idempotencyKey: 'k' }]) {
    test(`a result is kept beyond the limit${keyed.idempotencyKey ? ', with its key' : ''}`, async (t) => {
      const { session, runtime, holder, stall } = await openScene(t, IMPATIENT);
      const other = () => session.call('probe_nothing', {});
      const call = session.call('probe_stall', {}, keyed);
      await stall.started;
      await holder.hold();
      stall.finish();
      // The limit has passed once calls are refused.
      assert.equal(busyReason(await other()), 'journal_busy');
      assert.equal(busyReason(await other()), 'journal_busy');
      await holder.release();
      assert.deepEqual((await call).data, { done: true });
      const kinds = [...runtime.records()].flatMap((record) =>
        'tool' in record && record.tool === 'probe_stall' ? [record.kind] : [],
      );
      assert.deepEqual(kinds, ['requested', 'intent', 'result']);
    });
  }

  test('a folder is opened without standing still, and refused after the limit', async (t) => {
    const folder = mkdtempSync(join(root, 'opening-'));
    await (await openJournal(openStateFolder(folder))).close();
    const holder = startJournalHolder(folder);
    t.after(() => holder.kill());
    await holder.hold();
    const waiting = await openJournal(openStateFolder(folder), { busyTimeoutMs: IMPATIENT });
    await assert.rejects(async () => waiting.enroll({ id: 'a', pid: 1, birth: 'x' }), /Journal is busy/);
    const patient = await openJournal(openStateFolder(folder), { busyTimeoutMs: PATIENT });
    const enrolled = patient.enroll({ id: 'b', pid: 2, birth: 'y' });
    assert.ok(enrolled instanceof Promise);
    await holder.release();
    await enrolled;
    assert.deepEqual(
      patient.instances().map(({ id }) => id),
      ['b'],
    );
    await waiting.close();
    await patient.close();
  });

  test('closing waits for what is queued, but not for ever', async (t) => {
    const folder = mkdtempSync(join(root, 'closing-'));
    const first = await openJournal(openStateFolder(folder), { busyTimeoutMs: PATIENT });
    const second = await openJournal(openStateFolder(folder), { busyTimeoutMs: IMPATIENT });
    const holder = startJournalHolder(folder);
    t.after(() => holder.kill());
    await holder.hold();
    const kept = first.append([sampleIntent('a')]);
    const lost = assert.rejects(async () => second.append([sampleIntent('b')]), /Journal is busy/);
    await Promise.all([second.close(), lost]);
    const closing = first.close();
    await holder.release();
    await Promise.all([kept, closing]);
    const again = await openJournal(openStateFolder(folder));
    assert.deepEqual(
      [...again.read({ kind: 'intent' })].map((record) => record.kind === 'intent' && record.call_id),
      ['a'],
    );
    await again.close();
  });

  test('a lock that comes and goes: no call is acknowledged without its record, none runs twice', async (t) => {
    const { holder, count, runs, runtime } = await openScene(t, 20);
    const answers: ToolResponse[] = [];
    let isOver = false;
    const caller = async (name: string) => {
      for (let call = 0; !isOver; call++) {
        const key = `${name}-${call}`;
        let response = await count({ idempotencyKey: key });
        while (!response.ok) {
          assert.equal(busyReason(response), 'journal_busy', JSON.stringify(response.errors));
          await turn();
          response = await count({ idempotencyKey: key });
        }
        answers.push(response);
        // Calls that wait for nothing are over within one turn.
        await turn();
      }
    };
    const callers = Array.from({ length: 8 }, (_, at) => caller(`caller${at}`));
    for (let round = 0; round < 40; round++) {
      await holder.hold();
      for (let turns = 0; turns < (round % 5) * 500; turns++) await turn();
      await holder.release();
      const seen = answers.length;
      while (answers.length < seen + 8) await turn();
    }
    isOver = true;
    await Promise.all(callers);
    const results = [...runtime.records({ kind: 'result' })];
    assert.equal(runs.count, answers.length);
    assert.equal(results.length, answers.length);
    assert.equal([...runtime.records({ kind: 'intent' })].length, answers.length);
    assert.equal(runtime.verify().ok, true);
  });
});
