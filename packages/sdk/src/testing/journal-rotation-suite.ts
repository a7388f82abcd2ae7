/** What every JournalStore must do with records that grow old. Part of `journalStoreSuite`. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { JournalStore } from '../contracts/journal.ts';
import type { PruneOptions, RotateOptions } from '../contracts/journal-rotation.ts';
import { sampleDecision, sampleIntent, sampleRecovery, sampleRequested, sampleResult } from './sample-records.ts';

export type Check = (title: string, body: (store: JournalStore) => Promise<void> | void) => void;

/** A block of two records for each name. */
async function calls(store: JournalStore, ...names: readonly string[]): Promise<void> {
  for (const name of names) await store.append([sampleIntent(name), sampleResult(name)]);
}

const seqs = (store: JournalStore, archived: boolean) => [...store.read({ archived })].map(({ seq }) => seq);
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

export function retentionTests(check: Check): void {
  describe('rotation', () => rotationTests(check));
  describe('anchors', () => anchorTests(check));
  describe('pruning', () => pruneTests(check));
}

function rotationTests(check: Check): void {
  check('moves whole old blocks into an archive, which is still read on request [S1-41]', async (store) => {
    await calls(store, 'a', 'b', 'c');
    const before = [...store.read()];
    const { archives, bytes, ...report } = await store.rotate({ keepRecords: 3 });
    assert.deepEqual([report, archives.length], [{ records: 2, through: 2 }, 1]);
    assert.ok(bytes > 0);
    assert.deepEqual([...store.read({ archived: true })].slice(0, 6), before);
    assert.deepEqual(seqs(store, false), numbers(3, 8));
    assert.deepEqual(seqs(store, true), numbers(1, 8));
    assert.deepEqual([...store.read({ archived: true, callId: 'a' })], before.slice(0, 2));
    assert.deepEqual([...store.read({ archived: true, after: 1, limit: 2 })], before.slice(1, 3));
    assert.deepEqual([...store.read({ callId: 'a' })], []);
    const [record] = store.read({ kind: 'rotation' });
    assert.ok(record?.kind === 'rotation' && record.event === 'archived');
    assert.deepEqual([record.seq, record.through, record.records, record.archive], [7, 2, 2, archives[0]]);
  });

  check('verifies from the base on, over the archives on request, and goes on numbering [S1-41]', async (store) => {
    await calls(store, 'a', 'b', 'c');
    const base = { seq: 4, mac: '' };
    await store.rotate({ keepRecords: 2 });
    await calls(store, 'd');
    const report = store.verify();
    base.mac = report.base?.mac ?? '';
    assert.deepEqual(report, { ok: true, records: 6, head: store.head(), base });
    const whole = store.verify(store.head(), { archives: true });
    assert.deepEqual([whole.ok, whole.records, whole.archives?.map(({ state }) => state)], [true, 10, ['ok']]);
    await store.rotate({ keepRecords: 0 });
    const both = store.verify(undefined, { archives: true });
    assert.deepEqual(
      [both.records, both.archives?.map(({ first, through, state }) => [first, through, state])],
      [12, [[1, 4, 'ok'], [5, 10, 'ok']]], // biome-ignore format: one line reads better
    );
    assert.deepEqual(seqs(store, true), numbers(1, 12));
  });

  check('has nothing to do when all is young, few enough, or only the last rotation was added', async (store) => {
    const nothing = { records: 0, through: 0, archives: [], bytes: 0 };
    assert.deepEqual(await store.rotate({ keepRecords: 0 }), nothing);
    await calls(store, 'a', 'b');
    const head = store.head();
    assert.deepEqual(await store.rotate({ keepRecords: 4 }), nothing);
    assert.deepEqual(await store.rotate({ keepRecords: 3 }), nothing);
    assert.deepEqual(await store.rotate({ before: 0 }), nothing);
    assert.deepEqual(await store.rotate({ keepRecords: 0, minRecords: 5 }), nothing);
    assert.deepEqual(store.head(), head);
    assert.equal((await store.rotate({ keepRecords: 0, minRecords: 4 })).records, 4);
    assert.deepEqual(await store.rotate({ keepRecords: 0 }), { ...nothing, through: 4 });
    assert.equal((await store.rotate({ before: Number.MAX_SAFE_INTEGER })).records, 2);
  });

  check('never moves the intent of an open call, nor anything behind it [S1-42]', async (store) => {
    await calls(store, 'a');
    await store.append([sampleIntent('open')]);
    await calls(store, 'b', 'c');
    const report = await store.rotate({ keepRecords: 0 });
    assert.deepEqual([report.through, report.heldBy], [2, { callId: 'open', seq: 3 }]);
    assert.deepEqual(store.unfinished(), [{ ...sampleIntent('open'), seq: 3 }]);
    assert.equal((await store.rotate({ before: Number.MAX_SAFE_INTEGER })).records, 0);
    await store.append([sampleRecovery('open')]);
    const { records, heldBy } = await store.rotate({ keepRecords: 0 });
    assert.deepEqual([records, heldBy, store.unfinished()], [8, undefined, []]);
    assert.equal(store.verify(undefined, { archives: true }).ok, true);
  });

  check('keys hold their answers whatever becomes of their records', async (store) => {
    const claim = { scope: 's', key: 'k', argsHash: 'hash', callId: 'a' };
    await store.claim(claim, [sampleRequested('a')]);
    await store.settle('s', 'k', { done: true }, [sampleDecision('a')]);
    await store.rotate({ keepRecords: 0 });
    await store.prune({ keepArchives: 0, answersOlderThanMs: 0 });
    assert.deepEqual(await store.lookup('s', 'k', 'hash'), { state: 'done', callId: 'a', answer: { done: true } });
  });

  check('two rotations at once come after one another', async (store) => {
    await calls(store, 'a', 'b');
    const reports = await Promise.all([store.rotate({ keepRecords: 2 }), store.rotate({ keepRecords: 0 })]);
    assert.deepEqual(
      reports.map(({ records }) => records),
      [2, 2],
    );
    assert.deepEqual(seqs(store, true), numbers(1, 8));
    assert.deepEqual((await store.rotate({ keepRecords: 0 })).archives, []);
  });

  for (const options of [{ keepRecords: -1 }, { keepRecords: 1.5 }, { before: Number.NaN }] as RotateOptions[]) {
    check(`refuses to rotate with ${JSON.stringify(options)}`, async (store) => {
      await calls(store, 'a');
      await assert.rejects(store.rotate(options), TypeError);
      assert.deepEqual(seqs(store, false), [1, 2]);
    });
  }
}

function anchorTests(check: Check): void {
  check('still contains every head it ever had and no other, while the archives are there [S1-41]', async (store) => {
    const heads = [store.head()];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await calls(store, name);
      heads.push(store.head());
      if (name === 'b' || name === 'd') await store.rotate({ keepRecords: 2 });
    }
    assert.deepEqual(
      heads.map((head) => store.verify(head).ok),
      heads.map(() => true),
    );
    for (const { seq } of heads.slice(1)) {
      const { broken } = store.verify({ seq, mac: 'f'.repeat(64) });
      assert.match(broken?.reason ?? '', /anchor not contained: chain was cut or rewritten$/);
      assert.equal(broken?.seq, seq);
    }
    assert.equal(store.verify({ seq: 0, mac: 'f'.repeat(64) }).ok, false);
  });

  check(
    'says so when an anchor lies in a deleted archive; the place where one ended is still known [S1-41]',
    async (store) => {
      const heads = [];
      for (const name of ['a', 'b', 'c']) {
        await calls(store, name);
        heads.push(store.head());
      }
      const [name] = (await store.rotate({ keepRecords: 2 })).archives;
      await store.prune({ keepArchives: 0 });
      const [first, second, third] = heads.map((head) => store.verify(head));
      assert.deepEqual(first?.broken, { seq: 2, reason: `anchor lies in a deleted archive: ${name}` });
      assert.deepEqual([second?.ok, third?.ok], [true, true]);
    },
  );
}

function pruneTests(check: Check): void {
  check('deletes archives oldest first, says so in the chain, and reads what is left', async (store) => {
    for (const name of ['a', 'b', 'c']) {
      await calls(store, name);
      await store.rotate({ keepRecords: 0 });
    }
    const names = store.verify(undefined, { archives: true }).archives?.map(({ archive }) => archive) ?? [];
    assert.equal(names.length, 3);
    const { instances: _, ...report } = await store.prune({ keepArchives: 1 });
    assert.deepEqual(report, { archives: names.slice(0, 2), records: 6, answers: 0 });
    const [record] = [...store.read({ kind: 'rotation' })].slice(-1);
    assert.ok(record?.kind === 'rotation' && record.event === 'pruned');
    assert.deepEqual([record.through, record.records, record.archives], [6, 6, names.slice(0, 2)]);
    assert.deepEqual(seqs(store, true), numbers(7, store.head().seq));
    const { ok, archives } = store.verify(undefined, { archives: true });
    assert.deepEqual([ok, archives?.map(({ state }) => state)], [true, ['pruned', 'pruned', 'ok']]);
    const head = store.head();
    assert.deepEqual((await store.prune({ keepArchives: 1 })).archives, []);
    assert.deepEqual(store.head(), head);
    assert.equal((await store.rotate({ keepRecords: 0 })).records > 0, true);
    assert.equal(store.verify(undefined, { archives: true }).ok, true);
  });

  check('deletes archives whose newest record is old enough, and none without being told', async (store) => {
    await calls(store, 'a');
    await store.rotate({ keepRecords: 0 });
    await pause(5);
    assert.deepEqual((await store.prune({})).archives, []);
    assert.deepEqual((await store.prune({ archivesOlderThanMs: 3_600_000 })).archives, []);
    assert.equal((await store.prune({ archivesOlderThanMs: 0 })).archives.length, 1);
  });

  check('forgets settled answers of idempotency keys when told, never others [S1-43]', async (store) => {
    const scopes = ['idempotency:ann', 'idempotency:bob', 'dedupe', 'other'];
    const claimOf = (scope: string, key: string) => ({ scope, key, argsHash: 'hash', callId: `${scope} ${key}` });
    for (const scope of scopes) {
      await store.claim(claimOf(scope, 'pending'), [sampleIntent(`${scope} pending`)]);
      await store.claim(claimOf(scope, 'done'), [sampleIntent(`${scope} done`)]);
      await store.settle(scope, 'done', { scope }, [sampleResult(`${scope} done`)]);
    }
    await pause(5);
    const states = async () =>
      Promise.all(
        scopes.flatMap((scope) =>
          ['pending', 'done'].map(async (key) => (await store.lookup(scope, key, 'hash')).state),
        ),
      );
    const all = scopes.flatMap(() => ['pending', 'done']);
    assert.equal((await store.prune({ answersOlderThanMs: 3_600_000 })).answers, 0);
    assert.deepEqual(await states(), all);
    assert.equal((await store.prune({ answersOlderThanMs: 0 })).answers, 2);
    assert.deepEqual(await states(), ['pending', 'new', 'pending', 'new', ...all.slice(4)]);
    const [record] = [...store.read({ kind: 'rotation' })].slice(-1);
    assert.ok(record?.kind === 'rotation' && record.event === 'pruned');
    assert.deepEqual([record.answers, record.archives], [2, []]);
  });

  check('leaves those enrolled alone', async (store) => {
    const one = { id: 'one', pid: 1, birth: 'x' };
    store.enroll(one);
    store.enroll({ id: 'two', pid: 2, birth: 'y' });
    store.retire('two');
    await store.prune({});
    assert.deepEqual(store.instances(), [one]);
  });

  for (const options of [{ keepArchives: -1 }, { archivesOlderThanMs: Number.NaN }] as PruneOptions[]) {
    check(`refuses to prune with ${JSON.stringify(options)}`, async (store) => {
      await calls(store, 'a');
      await store.rotate({ keepRecords: 0 });
      await assert.rejects(store.prune(options), TypeError);
      assert.deepEqual(seqs(store, true), numbers(1, 4));
    });
  }
}
