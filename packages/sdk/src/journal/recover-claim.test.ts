import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JournalStore } from '../contracts/journal.ts';
import { sampleIntent } from '../testing/sample-records.ts';
import { releaseLost, settleLost } from './recover-claim.ts';
import { createMemoryJournal } from './store/journal-memory.ts';

const clock = { now: () => 42, monotonic: () => 0 };
const answer = { status: 'completed', data: 1, errors: [], warnings: [] };
const claim = (callId: string) => ({ scope: 's', key: 'k', argsHash: 'h', callId });
const settle = (store: JournalStore) => settleLost(store, claim('lost'), { clock, answer });
const release = (store: JournalStore) => releaseLost(store, claim('lost'), { clock, note: 'as before' });

async function lostCall(): Promise<JournalStore> {
  const store = createMemoryJournal();
  await store.claim(claim('lost'), [sampleIntent('lost')]);
  return store;
}

describe('a key whose call was lost', () => {
  test('gets its answer once, with the record that says why [S1-43]', async () => {
    const store = await lostCall();
    assert.deepEqual([await settle(store), await settle(store), await release(store)], [true, false, false]);
    assert.deepEqual(await store.lookup('s', 'k', 'h'), { state: 'done', callId: 'lost', answer });
    const records = [...store.read({ kind: 'recovery' })];
    assert.deepEqual(
      records.map((record) => record.kind === 'recovery' && [record.call_id, record.classification]),
      [['lost', 'resolved']],
    );
    assert.deepEqual(store.unfinished(), []);
  });

  test('freed and taken by another call it is that call’s: a caller that looked before cannot settle or free it [S1-43]', async () => {
    const store = await lostCall();
    assert.equal(await release(store), true);
    await store.claim(claim('running'), [sampleIntent('running')]);
    assert.deepEqual([await release(store), await settle(store)], [false, false]);
    assert.deepEqual(await store.lookup('s', 'k', 'h'), { state: 'pending', callId: 'running' });
  });
});
