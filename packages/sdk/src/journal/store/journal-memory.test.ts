import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalStoreSuite } from '../../testing/journal-suite.ts';
import { sampleIntent, sampleResult } from '../../testing/sample-records.ts';
import { createMemoryJournal } from './journal-memory.ts';

journalStoreSuite('journal-memory', () => createMemoryJournal());

test('two journals in memory share nothing, not even their key', async () => {
  const [one, other] = [createMemoryJournal(), createMemoryJournal()];
  await one.append([sampleIntent('a')]);
  assert.deepEqual([...other.read()], []);
  await other.append([sampleIntent('a')]);
  assert.notEqual(one.head().mac, other.head().mac);
});

test('a checkpoint in memory lists what is open [S1-42]', async () => {
  const store = createMemoryJournal({ checkpointEvery: 3 });
  await store.append([sampleIntent('a'), sampleIntent('b'), sampleResult('a')]);
  assert.deepEqual(
    [...store.read({ kind: 'checkpoint' })].map(
      (record) => record.kind === 'checkpoint' && [record.open, record.open_seq],
    ),
    [[['b'], [2]]],
  );
});
