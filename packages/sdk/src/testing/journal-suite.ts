/** What every JournalStore must do, ours and anyone's. `open` is called once per test and gives an empty store. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { JournalRecord, JournalStore, KeyClaim, ReadFilter } from '../contracts/journal.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { type Check, retentionTests } from './journal-rotation-suite.ts';
import { sampleDecision, sampleIntent, sampleRecovery, sampleRequested, sampleResult } from './sample-records.ts';

type Body = (store: JournalStore) => Promise<void> | void;

export function journalStoreSuite(name: string, open: () => MaybePromise<JournalStore>): void {
  const check = (title: string, body: Body): void => {
    test(title, async () => {
      const store = await open();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });
  };
  describe(`${name} as JournalStore`, () => {
    describe('records', () => recordTests(check));
    describe('keys', () => keyTests(check));
    describe('one step', () => atomicTests(check));
    describe('unfinished work', () => unfinishedTests(check));
    describe('chain', () => chainTests(check));
    describe('retention', () => retentionTests(check));
  });
}

function recordTests(check: Check): void {
  check('numbers records from 1 without gaps, in the order of the appends [S1-41]', async (store) => {
    await Promise.all([
      store.append([sampleRequested('a'), sampleIntent('a')]),
      store.append([sampleRequested('b')]),
      store.append([]),
    ]);
    await store.append([sampleResult('a')]);
    assert.deepEqual(outline(store), ['1 requested a', '2 intent a', '3 requested b', '4 result a']);
  });

  check('gives back what was appended, unchanged but for its number [S1-41]', async (store) => {
    const record = sampleResult('ä "quoted"\n😀', {
      duration_ms: 0.1,
      errors: [{ code: 'E_GIT', message: 'x\u2028y' }],
    });
    await store.append([record]);
    assert.deepEqual([...store.read()], [{ ...record, seq: 1 }]);
  });

  check('keeps a record as it was when it was appended', async (store) => {
    const records = [{ ...sampleIntent('a') }];
    const stored = store.append(records);
    Object.assign(records[0] ?? {}, { tool: 'changed' });
    records.length = 0;
    await stored;
    assert.deepEqual([...store.read()], [{ ...sampleIntent('a'), seq: 1 }]);
  });

  check('filters by call, session, kind, place and number', async (store) => {
    await store.append([sampleRequested('a'), sampleIntent('a'), sampleRequested('b', { session_id: 'session-2' })]);
    await store.append([sampleResult('a')]);
    const found = (filter: ReadFilter) => [...store.read(filter)].map((record) => record.seq);
    assert.deepEqual(
      [
        found({ callId: 'a' }),
        found({ sessionId: 'session-2' }),
        found({ kind: 'requested' }),
        found({ after: 1, limit: 2 }),
        found({ callId: 'a', kind: 'result' }),
        found({ callId: 'session-1' }),
        found({ after: 4 }),
        found({ limit: 0 }),
      ],
      [[1, 2, 4], [3], [1, 3], [2, 3], [4], [], [], []],
    );
  });

  check('refuses a record that has no JSON form and stores those appended beside it', async (store) => {
    const beside = store.append([sampleRequested('a')]);
    const impossible = { ...sampleRequested('b'), details: { count: 1n } } as unknown as JournalRecord;
    await assert.rejects(async () => store.append([sampleIntent('b'), impossible]), isJournalFailure);
    await beside;
    assert.deepEqual(outline(store), ['1 requested a']);
  });

  check('knows who is enrolled until they retire', (store) => {
    const one = { id: 'one', pid: 1, birth: 'x' };
    const two = { id: 'two', pid: 2, birth: 'y' };
    store.enroll(two);
    store.enroll(one);
    assert.deepEqual(store.instances(), [one, two]);
    store.retire('one');
    store.retire('nobody');
    assert.deepEqual(store.instances(), [two]);
  });

  check('refuses everything once closed, and closes twice without harm', async (store) => {
    await store.append([sampleRequested('a')]);
    await store.close();
    await store.close();
    await assert.rejects(async () => store.append([sampleRequested('b')]), isJournalFailure);
    await assert.rejects(async () => store.claim(claimOf('k', 'b'), []), isJournalFailure);
    assert.throws(() => [...store.read()], isJournalFailure);
  });
}

function keyTests(check: Check): void {
  check('answers a settled key with the recorded answer [S1-43]', async (store) => {
    assert.deepEqual(await store.claim(claimOf('k', 'a'), [sampleIntent('a')]), { state: 'new' });
    await store.settle('s', 'k', { data: ['ä', null, 1] }, [sampleResult('a')]);
    const done = { state: 'done', callId: 'a', answer: { data: ['ä', null, 1] } };
    assert.deepEqual(await store.lookup('s', 'k', 'hash'), done);
    assert.deepEqual(await store.claim(claimOf('k', 'b'), [sampleIntent('b')]), done);
    assert.deepEqual(outline(store), ['1 intent a', '2 result a']);
  });

  check('refuses a key whose arguments differ, pending or settled [S1-43]', async (store) => {
    await store.claim(claimOf('k', 'a'), [sampleIntent('a')]);
    const conflict = { state: 'conflict', callId: 'a' };
    assert.deepEqual(await store.lookup('s', 'k', 'other'), conflict);
    await store.settle('s', 'k', null, [sampleResult('a')]);
    assert.deepEqual(await store.claim({ ...claimOf('k', 'b'), argsHash: 'other' }, [sampleIntent('b')]), conflict);
    assert.deepEqual(outline(store), ['1 intent a', '2 result a']);
  });

  check('keeps a key pending until it is settled or released, and scopes apart [S1-43]', async (store) => {
    await store.claim(claimOf('k', 'a'), [sampleIntent('a')]);
    assert.deepEqual(await store.claim(claimOf('k', 'b'), [sampleIntent('b')]), { state: 'pending', callId: 'a' });
    assert.deepEqual(await store.lookup('t', 'k', 'hash'), { state: 'new' });
    assert.deepEqual(await store.claim({ ...claimOf('k', 'c'), scope: 't' }, [sampleIntent('c')]), { state: 'new' });
    await store.release('s', 'k', [sampleResult('a')]);
    assert.deepEqual(await store.lookup('s', 'k', 'hash'), { state: 'new' });
    assert.deepEqual(outline(store), ['1 intent a', '2 intent c', '3 result a']);
  });

  check('refuses to settle what is not claimed and to release what is settled, and writes nothing', async (store) => {
    await assert.rejects(async () => store.settle('s', 'k', 1, [sampleResult('a')]), isToolError);
    await store.claim(claimOf('k', 'a'), [sampleIntent('a')]);
    await store.settle('s', 'k', 1, [sampleResult('a')]);
    await assert.rejects(async () => store.settle('s', 'k', 2, [sampleResult('a')]), isToolError);
    await assert.rejects(async () => store.release('s', 'k', [sampleResult('a')]), isToolError);
    assert.deepEqual(await store.lookup('s', 'k', 'hash'), { state: 'done', callId: 'a', answer: 1 });
    assert.deepEqual(outline(store), ['1 intent a', '2 result a']);
  });

  check('judges every key of one turn by itself, whatever becomes of the others [S1-43]', async (store) => {
    await store.claim(claimOf('held', 'a'), [sampleIntent('a')]);
    const answers = await Promise.allSettled([
      store.append([sampleRequested('b')]),
      (async () => store.claim(claimOf('k', 'b'), [sampleIntent('b')]))(),
      (async () => store.claim(claimOf('k', 'c'), [sampleIntent('c')]))(),
      (async () => store.settle('s', 'nothing', 1, [sampleResult('x')]))(),
      (async () => store.settle('s', 'held', 1, [sampleResult('a')]))(),
    ]);
    const told = answers.map((one) => (one.status === 'fulfilled' ? one.value : isToolError(one.reason)));
    assert.deepEqual(told, [undefined, { state: 'new' }, { state: 'pending', callId: 'b' }, true, undefined]);
    assert.deepEqual(await store.lookup('s', 'held', 'hash'), { state: 'done', callId: 'a', answer: 1 });
    assert.deepEqual(outline(store), ['1 intent a', '2 requested b', '3 intent b', '4 result a']);
    assert.equal(store.verify().ok, true);
  });

  check('lists the keys a call still holds', async (store) => {
    await store.claim(claimOf('k1', 'a'), []);
    await store.claim(claimOf('k2', 'a'), []);
    await store.claim(claimOf('k3', 'b'), []);
    await store.settle('s', 'k2', 1, []);
    assert.deepEqual(store.claimsOf('a'), [claimOf('k1', 'a')]);
  });
}

function atomicTests(check: Check): void {
  check('undoes records and keys when the work throws', async (store) => {
    await store.append([sampleRequested('a')]);
    await store.claim(claimOf('held', 'a'), [sampleDecision('a')]);
    const head = store.head();
    const work = () => {
      void store.append([sampleIntent('a')]);
      void store.claim(claimOf('k', 'a'), [sampleIntent('b')]);
      void store.release('s', 'held', []);
      assert.equal(store.head().seq, 4);
      throw new TypeError('stop');
    };
    await assert.rejects(async () => store.atomically(work), TypeError);
    assert.deepEqual(store.head(), head);
    assert.deepEqual(store.unfinished(), []);
    assert.deepEqual(await store.lookup('s', 'k', 'hash'), { state: 'new' });
    assert.deepEqual(await store.lookup('s', 'held', 'hash'), { state: 'pending', callId: 'a' });
    await store.append([sampleResult('a')]);
    assert.deepEqual(outline(store), ['1 requested a', '2 decision a', '3 result a']);
    assert.equal(store.verify().ok, true);
  });

  check('keeps all of it when the work returns, after what was queued before', async (store) => {
    const queued = store.append([sampleRequested('a')]);
    const answer = await store.atomically(() => {
      void store.append([sampleIntent('a')]);
      void store.claim(claimOf('k', 'a'), [sampleDecision('a')]);
      return 7;
    });
    await queued;
    assert.equal(answer, 7);
    assert.deepEqual(outline(store), ['1 requested a', '2 intent a', '3 decision a']);
  });
}

function unfinishedTests(check: Check): void {
  check('lists intents that nothing has ended, oldest first [S1-42]', async (store) => {
    await store.append(['a', 'b', 'c', 'd', 'e'].map((callId) => sampleIntent(callId)));
    await store.append([sampleResult('a'), sampleDecision('b', { outcome: 'deny' }), sampleRecovery('c')]);
    assert.deepEqual(store.unfinished(), [
      { ...sampleIntent('d'), seq: 4 },
      { ...sampleIntent('e'), seq: 5 },
    ]);
    await store.append([sampleResult('d'), sampleIntent('f'), sampleDecision('e')]);
    assert.deepEqual(
      store.unfinished().map(({ call_id, seq }) => [call_id, seq]),
      [
        ['e', 5],
        ['f', 10],
      ],
    );
  });
}

function chainTests(check: Check): void {
  check('an empty chain verifies and has its head at 0', (store) => {
    assert.deepEqual(store.verify(), { ok: true, records: 0, head: store.head() });
    assert.equal(store.head().seq, 0);
    assert.equal(store.verify(store.head()).ok, true);
  });

  check('verifies, and contains every head it ever had and no other', async (store) => {
    const heads = [store.head()];
    for (const callId of ['a', 'b', 'c']) {
      await store.append([sampleIntent(callId), sampleResult(callId)]);
      heads.push(store.head());
    }
    assert.deepEqual(
      heads.map((head) => store.verify(head).ok),
      [true, true, true, true],
    );
    assert.deepEqual(store.verify(), { ok: true, records: 6, head: store.head() });
    const foreign = { seq: 4, mac: 'f'.repeat(64) };
    assert.deepEqual(store.verify(foreign).broken, {
      seq: 4,
      reason: 'anchor not contained: chain was cut or rewritten',
    });
    assert.equal(store.verify({ ...store.head(), seq: 8 }).broken?.seq, 7);
  });
}

function outline(store: JournalStore): readonly string[] {
  return [...store.read()].map((record) => `${record.seq} ${record.kind} ${'call_id' in record ? record.call_id : ''}`);
}

function claimOf(key: string, callId: string): KeyClaim {
  return { scope: 's', key, argsHash: 'hash', callId };
}

function isJournalFailure(thrown: unknown): boolean {
  return isToolError(thrown) && thrown.details['kind'] === 'journal_failure';
}
