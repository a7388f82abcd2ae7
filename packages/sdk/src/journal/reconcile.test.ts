import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { Instance, JournalStore } from '../contracts/journal.ts';
import type { Rehearsal, SubjectReader } from '../contracts/rehearsal.ts';
import { sampleIntent, sampleResult } from '../testing/sample-records.ts';
import { reconcile } from './reconcile.ts';
import { replay } from './replay.ts';
import { resolvePending } from './resolve-pending.ts';
import { createMemoryJournal } from './store/journal-memory.ts';

const clock = { now: () => 42, monotonic: () => 0 };
const enrolled = (id: string): Instance => ({ id, pid: 1, birth: id });
const claim = (key: string, callId: string) => ({ scope: 's', key, argsHash: 'h', callId, instance: 'dead' });
const legacyClaim = (key: string, callId: string) => ({ scope: 's', key, argsHash: 'h', callId });
const options = (living: readonly string[]) => ({
  clock,
  self: 'self',
  isAlive: ({ id }: Instance) => living.includes(id),
  reader: async () => subjects({}),
});

/** A world in which each subject holds the given content. */
function subjects(world: Readonly<Record<string, string>>): SubjectReader {
  return {
    root: 'root',
    read(subject) {
      const content = world[subject];
      return content === undefined ? undefined : { content, exact: `${content}@1` };
    },
  };
}

const ANSWER = { status: 'completed', data: { done: true }, errors: [], warnings: [] };
const rehearsal: Rehearsal = {
  root: 'root',
  changes: [{ subject: 'path:a', before: 'old@1', after: 'new' }],
  answer: ANSWER,
};

/** One call of each kind, by an instance that may be dead and by one that lives. */
async function lostCalls(): Promise<JournalStore> {
  const store = createMemoryJournal();
  for (const id of ['self', 'dead', 'living']) store.enroll(enrolled(id));
  await store.claim(claim('k1', 'unsafe'), [sampleIntent('unsafe', { instance: 'dead' })]);
  await store.claim(claim('k2', 'safe'), [sampleIntent('safe', { instance: 'dead', retry_safe: true })]);
  await store.append([
    sampleIntent('keyless', { instance: 'dead' }),
    sampleIntent('finished', { instance: 'dead' }),
    sampleResult('finished'),
    sampleIntent('running', { instance: 'living' }),
    sampleIntent('mine', { instance: 'self' }),
  ]);
  return store;
}

describe('reconcile', () => {
  test('section 6 item 8: speaks once for each call of a dead process, and for no other [S1-42]', async () => {
    const store = await lostCalls();
    const found = await reconcile(store, options(['living']));
    assert.deepEqual(
      found.map(({ callId, classification }) => [callId, classification]),
      [
        ['unsafe', 'reconcile'],
        ['safe', 'retry_safe'],
        ['keyless', 'reconcile'],
      ],
    );
    assert.deepEqual(
      [...store.read({ kind: 'recovery' })].map(
        (record) => record.kind === 'recovery' && [record.call_id, record.at_ms, record.reason],
      ),
      [
        ['unsafe', 42, 'crashed'],
        ['safe', 42, 'crashed'],
        ['keyless', 42, 'crashed'],
      ],
    );
    assert.deepEqual(
      store.unfinished().map(({ call_id }) => call_id),
      ['running', 'mine'],
    );
    assert.deepEqual(
      store.instances().map(({ id }) => id),
      ['living', 'self'],
    );
  });

  test('a second run finds and writes nothing [S1-42]', async () => {
    const store = await lostCalls();
    await reconcile(store, options(['living']));
    const head = store.head();
    assert.deepEqual(await reconcile(store, options(['living'])), []);
    assert.deepEqual(store.head(), head);
    assert.equal((await reconcile(store, options([]))).length, 1);
  });

  test('section 6 item 8: the key of a safe call is free again, that of an unsafe one stays held [S1-43]', async () => {
    const store = await lostCalls();
    await reconcile(store, options(['living']));
    assert.deepEqual(await store.lookup('s', 'k1', 'h'), { state: 'pending', callId: 'unsafe', instance: 'dead' });
    assert.deepEqual(await store.claim(claim('k2', 'again'), [sampleIntent('again')]), { state: 'new' });
  });

  test('a key of a version that called some writes safe to repeat is not freed [S1-43]', async () => {
    const store = createMemoryJournal();
    for (const id of ['self', 'dead']) store.enroll(enrolled(id));
    const intent = sampleIntent('old', { instance: 'dead', retry_safe: true });
    await store.claim(legacyClaim('k', 'old'), [intent]);
    const [found] = await reconcile(store, options([]));
    assert.equal(found?.classification, 'reconcile');
    assert.deepEqual(await store.lookup('s', 'k', 'h'), { state: 'pending', callId: 'old' });
  });

  for (const [world, state] of [
    ['new', 'done'],
    ['old', 'pending'],
    ['other', 'pending'],
  ] as const) {
    test(`what was intended is proven at once, nothing else is decided: ${world} [S1-43]`, async () => {
      const store = createMemoryJournal();
      for (const id of ['self', 'dead']) store.enroll(enrolled(id));
      await store.claim({ ...claim('k', 'lost'), rehearsal }, [sampleIntent('lost', { instance: 'dead' })]);
      const reader = async () => subjects({ 'path:a': world });
      const [found] = await reconcile(store, { ...options([]), reader });
      assert.equal(found?.classification, state === 'done' ? 'resolved' : 'reconcile');
      const after = await store.lookup('s', 'k', 'h');
      assert.equal(after.state, state);
      assert.deepEqual(after.state === 'done' ? after.answer : ANSWER, ANSWER);
      const phase = replay(store.read(), { mode: 'audit' }).calls.get('lost')?.phase;
      assert.equal(phase, state === 'done' ? 'resolved' : 'unknown');
    });
  }

  test('calls of an instance that has retired are lost too', async () => {
    const store = await lostCalls();
    store.retire('living');
    const found = await reconcile(store, options(['living', 'dead']));
    assert.deepEqual(
      found.map(({ callId }) => callId),
      ['running'],
    );
  });
});

describe('resolvePending', () => {
  test('a call that did not start gives its key back [S1-43]', async () => {
    const store = await lostCalls();
    await reconcile(store, options(['living']));
    await resolvePending(store, 'unsafe', 'not_started', { clock, note: 'looked at the file' });
    assert.deepEqual(await store.lookup('s', 'k1', 'h'), { state: 'new' });
    assert.equal(replay(store.read(), { mode: 'audit' }).calls.get('unsafe')?.phase, 'resolved');
  });

  test('a call that completed answers its key from then on [S1-43]', async () => {
    const store = await lostCalls();
    await reconcile(store, options(['living']));
    await resolvePending(store, 'unsafe', 'completed', { clock, note: 'the file is there' });
    const settled = await store.lookup('s', 'k1', 'h');
    assert.ok(settled.state === 'done');
    const { data, warnings } = settled.answer as { data: null; warnings: readonly { details: { reason: string } }[] };
    assert.deepEqual([data, warnings.map(({ details }) => details.reason)], [null, ['answer_unknown']]);
    await resolvePending(store, 'keyless', 'completed', { clock, note: 'seen' });
  });

  test('a call that completed gives the answer it intended, without a warning [S1-43]', async () => {
    const store = createMemoryJournal();
    await store.claim({ ...claim('k', 'lost'), rehearsal }, [sampleIntent('lost', { instance: 'dead' })]);
    await resolvePending(store, 'lost', 'completed', { clock, note: 'the file was there' });
    assert.deepEqual(await store.lookup('s', 'k', 'h'), { state: 'done', callId: 'lost', answer: ANSWER });
  });

  test('finds the intent of a lost call in an archive, and cannot once that is deleted [S1-42]', async () => {
    const resolve = (store: JournalStore) => resolvePending(store, 'keyless', 'completed', { clock, note: 'seen' });
    for (const keepArchives of [1, 0]) {
      const store = await lostCalls();
      await reconcile(store, options([]));
      await store.append([sampleResult('mine')]);
      await store.rotate({ keepRecords: 0 });
      await store.prune({ keepArchives });
      assert.deepEqual([...store.read({ callId: 'keyless' })], []);
      if (keepArchives === 0) await assert.rejects(resolve(store), /not waiting for a decision/);
      else await resolve(store);
      await assert.rejects(resolve(store), /not waiting for a decision/);
    }
  });

  test('refuses a call with a known end, one resolved before, and an unknown one', async () => {
    const store = await lostCalls();
    await reconcile(store, options(['living']));
    await resolvePending(store, 'keyless', 'not_started', { clock, note: '' });
    const head = store.head();
    for (const callId of ['finished', 'keyless', 'safe', 'nobody']) {
      await assert.rejects(
        resolvePending(store, callId, 'completed', { clock, note: '' }),
        (thrown) => isToolError(thrown) && thrown.details['reason'] === 'not_pending',
      );
    }
    assert.deepEqual(store.head(), head);
  });
});
