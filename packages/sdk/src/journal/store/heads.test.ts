/** Marks of what was on the disk: what they notice, and what they leave alone. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { JournalStore } from '../../contracts/journal.ts';
import { currentInstance } from '../../platform/processes/process-identity.ts';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { createSystemClock } from '../../platform/system-clock.ts';
import { sampleIntent, sampleResult } from '../../testing/sample-records.ts';
import { createHeadKeeper } from './head-keeper.ts';
import { createMarkFormat } from './head-marks.ts';
import { openSqliteJournal, type SqliteJournalOptions } from './journal-sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'journal-heads-'));
after(() => rmSync(root, { recursive: true, force: true }));

const newFolder = (): string => mkdtempSync(join(root, 'state-'));
const openIn = (folder: string, options?: SqliteJournalOptions): JournalStore =>
  openSqliteJournal(openStateFolder(folder), options);
const marksIn = (folder: string): readonly string[] => readdirSync(join(folder, 'heads'));
const call = (store: JournalStore, name: string) => store.append([sampleIntent(name), sampleResult(name)]);

/** A process that ended; of this boot of the machine unless given another. */
const ended = (boot?: string) => {
  const self = currentInstance();
  const [, own] = self.birth.split(':');
  return { ...self, birth: `linux:${boot ?? own}:1:1`, pid: 2 ** 30 };
};

/** What a process leaves that never closes its journal. Its own connection stays open on the original. */
async function abandoned(options: SqliteJournalOptions): Promise<string> {
  const folder = newFolder();
  const store = openIn(folder, options);
  for (const name of ['a', 'b', 'c']) await call(store, name);
  const { path: copy } = openStateFolder(`${folder}-copy`);
  cpSync(folder, copy, { recursive: true });
  after(() => store.close());
  return copy;
}

describe('a machine that stopped', () => {
  test('without closing the journal is on record, in every later check, and said once [S1-40]', async () => {
    const folder = await abandoned({ writer: ended('earlier-boot') });
    const store = openIn(folder);
    const before = store.verify();
    assert.deepEqual([before.ok, before.losses?.map(({ after: seq }) => seq)], [true, [0]]);
    assert.deepEqual(
      (await store.reportHeads?.())?.map(({ reason, seq }) => [reason, seq]),
      [['machine_stopped', 0]],
    );
    assert.deepEqual(
      [...store.read({ kind: 'recovery' })].map((record) => record.kind === 'recovery' && record.reason),
      ['machine_stopped'],
    );
    // The old mark goes when the record about it is on the disk, not before.
    assert.equal(marksIn(folder).length, 2);
    await store.close();
    assert.equal(marksIn(folder).length, 1);
    const next = openIn(folder);
    assert.deepEqual(next.reportHeads?.(), []);
    assert.equal(next.verify().losses?.length, 1);
    assert.equal(next.verify().ok, true);
    await next.close();
  });

  test('is no loss after a clean close, under full, or when only the process was killed [S1-40]', async () => {
    const closed = newFolder();
    const first = openIn(closed, { writer: ended('earlier-boot') });
    await call(first, 'a');
    await first.close();
    const full = await abandoned({ writer: ended('earlier-boot'), durability: 'full' });
    const killed = await abandoned({ writer: ended() });
    for (const folder of [closed, full, killed]) {
      const store = openIn(folder);
      assert.deepEqual([store.verify().ok, store.verify().losses, store.reportHeads?.()], [true, undefined, []]);
      await store.close();
    }
  });
});

describe('a journal that lacks what was on the disk', () => {
  async function rolledBack(): Promise<string> {
    const folder = newFolder();
    const first = openIn(folder);
    await call(first, 'a');
    await first.close();
    const old = readFileSync(join(folder, 'journal.db'));
    const second = openIn(folder);
    second.reportHeads?.();
    await call(second, 'b');
    await second.close();
    writeFileSync(join(folder, 'journal.db'), old);
    return folder;
  }

  test('fails every check, is put on record once, and is accepted by deleting the mark [S1-41]', async () => {
    const folder = await rolledBack();
    const store = openIn(folder);
    assert.match(store.verify().broken?.reason ?? '', /^head not contained: heads\/\S+ saw record 6 on the disk/);
    assert.deepEqual(
      (await store.reportHeads?.())?.map(({ reason, seq }) => [reason, seq]),
      [['chain_cut', 6]],
    );
    // The chain goes on, past the record that is missing.
    for (const name of ['c', 'd', 'e']) await call(store, name);
    assert.equal(store.verify().ok, false);
    await store.close();
    const next = openIn(folder);
    assert.equal((await next.reportHeads?.())?.length, 1);
    assert.equal([...next.read({ kind: 'recovery' })].length, 1);
    const lost = marksIn(folder).filter((name) => name.endsWith('.lost'));
    assert.equal(lost.length, 1);
    rmSync(join(folder, 'heads', lost[0] ?? ''));
    assert.equal(next.verify().ok, true);
    await next.close();
  });

  test('is found when the chain was written on past the place, too [S1-41]', async () => {
    const folder = await rolledBack();
    const kept = join(root, 'kept-heads');
    cpSync(join(folder, 'heads'), kept, { recursive: true });
    rmSync(join(folder, 'heads'), { recursive: true });
    const forked = openIn(folder);
    await call(forked, 'x');
    // A block that ends where the one did that is missing.
    await forked.append([sampleIntent('y')]);
    await call(forked, 'z');
    await forked.close();
    const store = openIn(folder);
    assert.equal(store.verify().ok, true);
    cpSync(kept, join(folder, 'heads'), { recursive: true });
    assert.match(store.verify().broken?.reason ?? '', /^head not contained/);
    await store.close();
  });

  test('marks that are gone, or were written by another process, are missed [S1-41 S1-40]', async () => {
    const make = async (): Promise<string> => {
      const folder = newFolder();
      const store = openIn(folder);
      await call(store, 'a');
      await store.close();
      return folder;
    };
    const reason = async (folder: string): Promise<string | undefined> => {
      const store = openIn(folder);
      const report = store.verify();
      await store.close();
      return report.broken?.reason;
    };
    const whole = await make();
    assert.equal(await reason(whole), undefined);
    const gone = await make();
    rmSync(join(gone, 'heads'), { recursive: true });
    assert.match((await reason(gone)) ?? '', /^mark missing: heads\//);
    const forged = await make();
    const [name = ''] = marksIn(forged);
    const text = readFileSync(join(forged, 'heads', name), 'utf8').replaceAll('"clean":', '"clear":');
    writeFileSync(join(forged, 'heads', name), text);
    assert.match((await reason(forged)) ?? '', /^mark damaged: heads\//);
  });
});

describe('marks', () => {
  test('do not pile up, and are not made by who only reads [S1-40]', async () => {
    const folder = newFolder();
    for (let run = 0; run < 5; run++) {
      const store = openIn(folder);
      store.reportHeads?.();
      await call(store, `c${run}`);
      await store.close();
    }
    const [only] = marksIn(folder);
    const reader = openIn(folder);
    assert.equal(reader.verify().ok, true);
    await reader.close();
    assert.deepEqual(marksIn(folder), [only]);
  });

  test('of several writers stand side by side, and each follows its writer [S1-40]', async () => {
    const folder = newFolder();
    const [one, other] = [openIn(folder, { syncEveryMs: 1 }), openIn(folder, { syncEveryMs: 1 })];
    await call(one, 'a');
    await call(other, 'b');
    assert.equal(marksIn(folder).length, 2);
    for (let at = 0; at < 50; at++) {
      await Promise.all([call(one, `o${at}`), call(other, `t${at}`)]);
      assert.equal(one.verify().ok, true);
    }
    await one.close();
    await other.close();
    const next = openIn(folder);
    assert.deepEqual([next.verify().ok, next.reportHeads?.()], [true, []]);
    await next.close();
  });

  test('reach the last record while nothing is written [S1-40]', async () => {
    const folder = newFolder();
    const store = openIn(folder, { syncEveryMs: 1 });
    await call(store, 'a');
    const text = (): string =>
      marksIn(folder)
        .map((name) => readFileSync(join(folder, 'heads', name), 'utf8'))
        .join();
    for (let tries = 0; !text().includes('"seq":2'); tries++) {
      assert.ok(tries < 6000, 'no mark in half a minute');
      await pause(5);
    }
    await store.close();
  });
});

test('a journal whose log cannot be synced takes no further record [S1-40]', async () => {
  const asked = Promise.withResolvers<void>();
  const keeper = createHeadKeeper({
    files: {
      read: () => [],
      create: () => ({ write() {}, sync: async () => {}, syncNow() {}, close() {} }),
      remove() {},
      rename() {},
    },
    log: {
      now() {},
      async later() {
        setImmediate(asked.resolve);
        throw new Error('EIO');
      },
      close() {},
    },
    format: createMarkFormat(Buffer.alloc(32)),
    writer: currentInstance(),
    durability: 'normal',
    clock: createSystemClock(),
    everyMs: 1,
  });
  const head = { seq: 0, mac: '' };
  const chain = { head, catchUp: () => head };
  keeper.before(chain);
  keeper.after();
  // The timer of the keeper does not keep the process alive.
  const alive = setInterval(() => {}, 1000);
  await asked.promise;
  clearInterval(alive);
  assert.throws(() => keeper.before(chain), { code: 'E_INTERNAL', message: /cannot be brought to the disk/ });
});
