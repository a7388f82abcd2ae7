import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { JournalRecord, JournalStore, RecoveryRecord } from '../contracts/journal.ts';
import { openStateFolder } from '../platform/state/state-folder.ts';
import { sampleRecovery } from '../testing/sample-records.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';
import { createRecoveryLog } from './recovery-log.ts';
import { createMemoryJournal } from './store/journal-memory.ts';
import { openSqliteJournal } from './store/journal-sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'recovery-log-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** A journal that counts what it is given, and fails while it is told to. */
function countingJournal(inner: JournalStore) {
  const state = { isDown: false, bytes: 0 };
  const journal: JournalStore = {
    ...inner,
    async append(records) {
      state.bytes += JSON.stringify(records).length;
      if (state.isDown) throw new Error('down');
      await inner.append(records);
    },
  };
  return { journal, state };
}

const isRefusal = { blocks: false };
const markers = (records: Iterable<JournalRecord>) =>
  [...records].filter((record): record is RecoveryRecord => record.kind === 'recovery');

describe('what waits for the journal is bounded', () => {
  test('each of 5,000 refusals costs the same, and all are counted once there is room', async () => {
    const { journal, state } = countingJournal(createMemoryJournal());
    const recovery = createRecoveryLog(journal);
    state.isDown = true;
    const costs: number[] = [];
    for (let call = 0; call < 5000; call++) {
      const before = state.bytes;
      await recovery.note(sampleRecovery(`call-${String(call).padStart(4, '0')}`), isRefusal);
      costs.push(state.bytes - before);
    }
    assert.equal(recovery.pending.length, 17);
    assert.ok(Math.max(...costs) <= 2 * (costs[20] as number), `${Math.max(...costs)} bytes, then ${costs[20]}`);
    state.isDown = false;
    await recovery.carry([], (records) => journal.append(records));
    const stored = markers(journal.read());
    assert.equal(stored.length, 17);
    assert.equal(stored.at(-1)?.note, '4984 more refused calls could not be recorded, the last was call-4999');
    assert.deepEqual(recovery.pending, []);
  });

  test('markers of calls that ran are all kept, and block until the last is written', async () => {
    const { journal, state } = countingJournal(createMemoryJournal());
    const recovery = createRecoveryLog(journal);
    state.isDown = true;
    for (let call = 0; call < 100; call++) {
      await recovery.note(sampleRecovery(`refused-${call}`), isRefusal);
      await recovery.note(sampleRecovery(`ran-${call}`), { blocks: true });
    }
    assert.equal(recovery.blocked, true);
    state.isDown = false;
    assert.equal(await recovery.note(sampleRecovery('last'), isRefusal), true);
    assert.equal(recovery.blocked, false);
    const ran = markers(journal.read()).filter(({ call_id }) => call_id?.startsWith('ran-'));
    assert.equal(ran.length, 100);
  });

  test('a marker that comes while others are written is neither forgotten nor written twice', async () => {
    const { journal, state } = countingJournal(createMemoryJournal());
    const recovery = createRecoveryLog(journal);
    state.isDown = true;
    await recovery.note(sampleRecovery('first'), { blocks: true });
    const gate = Promise.withResolvers<void>();
    const slow = recovery.carry([], async (records) => {
      await gate.promise;
      await journal.append(records);
    });
    await recovery.note(sampleRecovery('second'), { blocks: true });
    state.isDown = false;
    gate.resolve();
    await slow;
    assert.equal(recovery.blocked, true);
    assert.deepEqual(
      recovery.pending.map(({ call_id }) => call_id),
      ['second'],
    );
    await recovery.carry([], (records) => journal.append(records));
    assert.equal(recovery.blocked, false);
    assert.deepEqual(
      markers(journal.read()).map(({ call_id }) => call_id),
      ['first', 'second'],
    );
  });

  test('5,000 calls refused by a full journal cost the same each (deep)', async () => {
    const full = openSqliteJournal(openStateFolder(join(root, 'full')), { maxBytes: 4096 * 40 });
    const { journal, state } = countingJournal(full);
    const { session, dispose } = await openScratchRuntime({ ports: { journal } });
    const read = () => session.call('fs_list', { glob: '.' });
    let accepted = 0;
    while ((await read()).ok) accepted += 1;
    const costs: number[] = [];
    for (let call = 0; call < 5000; call++) {
      const before = state.bytes;
      assert.equal((await read()).ok, false);
      costs.push(state.bytes - before);
    }
    const early = Math.max(...costs.slice(500, 1000));
    const late = Math.max(...costs.slice(-500));
    assert.ok(late <= early + 100, `${early} bytes for each of the first, ${late} for each of the last`);
    assert.ok(accepted > 0);
    // The end of the session cannot be recorded either.
    await assert.rejects(dispose());
  });
});
