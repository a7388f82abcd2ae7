/**
 * A journal that cannot be written: answers say so, what was open is closed, and nothing ends the process by an
 * unhandled rejection.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ToolError } from '@tool-runtime/protocol';
import { failure } from '../src/contracts/failures.ts';
import type { JournalStore } from '../src/contracts/journal.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

/** Every write fails while `isFull`, as SQLite reports it. What nothing waits for fails the test. */
async function scene(t: TestContext) {
  const disk = { isFull: false };
  const reported: ToolError[] = [];
  const unhandled: unknown[] = [];
  const note = (thrown: unknown): void => void unhandled.push(thrown);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  const requireSpace = (): void => {
    if (disk.isFull) throw failure('journal_failure', 'retryable', 'Journal storage is full: journal.db');
  };
  /** As the store does: work of one step fails where it stands, everything else later. */
  const filling = (journal: JournalStore): JournalStore => ({
    ...journal,
    append: async (records) => {
      requireSpace();
      return journal.append(records);
    },
    claim: async (claim, records) => {
      requireSpace();
      return journal.claim(claim, records);
    },
    settle: async (...settled) => {
      requireSpace();
      return journal.settle(...settled);
    },
    atomically: (work, options) => {
      requireSpace();
      return journal.atomically(work, options);
    },
  });
  let now = 0;
  const scratch = await openScratchRuntime({
    ports: {
      clock: { now: () => Date.now(), monotonic: () => performance.now() + now },
      wrapParts: (parts) => ({ ...parts, journal: filling(parts.journal) }),
    },
    onUnexpected: (error) => void reported.push(error),
  });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { ...scratch, disk, reported, unhandled, pass };
}

/** Rejections are reported after the turn in which they were left alone. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done));
}

test('a session that expires while the journal is full is refused and reported, and the process goes on', async (t) => {
  const { runtime, disk, reported, unhandled, pass, dispose } = await scene(t);
  t.after(dispose);
  const session = await runtime.openSession({ heartbeatTimeoutMs: 1000 });
  disk.isFull = true;
  pass(2000);
  await assert.rejects(session.call('file_read', { path: 'a' }), /expired/);
  await session.ended;
  await turns();
  assert.deepEqual(unhandled, []);
  assert.match(reported.map(({ message }) => message).join(), /storage is full/);
  disk.isFull = false;
});

test('a runtime that is closed while the journal is full says so once everything of it is closed', async (t) => {
  const { runtime, disk, unhandled, dispose } = await scene(t);
  await Promise.all([runtime.openSession({}), runtime.openSession({})]);
  disk.isFull = true;
  await assert.rejects(runtime.close(), /storage is full/);
  await turns();
  assert.deepEqual(unhandled, []);
  assert.throws(() => [...runtime.records()], /closed/);
  disk.isFull = false;
  await dispose().catch(() => {});
});

test('calls of all kinds are answered while the journal is full', async (t) => {
  const { session, disk, unhandled, dispose } = await scene(t);
  t.after(dispose);
  disk.isFull = true;
  const answers = await Promise.all([
    session.call('file_read', { path: 'a' }),
    session.call('file_write', { path: 'a', content: 'a' }),
    session.call('file_write', { path: 'b', content: 'b' }, { idempotencyKey: 'k', dedupeKey: 'd' }),
    session.call('no_such_tool' as string, {}),
  ]);
  assert.deepEqual(
    answers.map(({ ok }) => ok),
    [false, false, false, false],
  );
  await turns();
  assert.deepEqual(unhandled, []);
  disk.isFull = false;
  assert.equal((await session.call('file_write', { path: 'a', content: 'a' })).ok, true);
});

test('calls of a transaction are answered although the list of transactions cannot be written (deep)', async (t) => {
  const { session, state, workspace, reported, dispose } = await scene(t);
  t.after(dispose);
  // Where the folder of the list would be.
  writeFileSync(join(state, 'transactions'), '');
  assert.equal((await session.call('tx_begin', {})).ok, true);
  assert.equal((await session.call('file_write', { path: 'a', content: 'a' })).ok, true);
  assert.equal(existsSync(join(workspace, 'a')), false);
  const committed = await session.call('tx_commit', {});
  assert.ok(committed.ok, JSON.stringify(committed));
  assert.equal(existsSync(join(workspace, 'a')), true);
  assert.ok(reported.length > 0, 'the operator hears of it');
});
