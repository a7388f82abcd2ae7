import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { makeLegacy } from '../../../test/legacy-journal.ts';
import type { JournalRecord, JournalStore, VerifyReport } from '../../contracts/journal.ts';
import { type ArchiveFiles, createArchiveFiles } from '../../platform/state/archive-files.ts';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { createSystemClock } from '../../platform/system-clock.ts';
import { sampleDecision, sampleIntent, sampleRequested, sampleResult } from '../../testing/sample-records.ts';
import { encodePage } from './archive-pages.ts';
import { birthMark, createBlockJournal } from './block-journal.ts';
import { openSqliteJournal, type SqliteJournalOptions } from './journal-sqlite.ts';
import { connect } from './sqlite-schema.ts';
import { createSqliteTables } from './sqlite-tables.ts';

const root = mkdtempSync(join(tmpdir(), 'rotate-journal-'));
after(() => rmSync(root, { recursive: true, force: true }));

const newFolder = () => mkdtempSync(join(root, 'state-'));
const openIn = (folder: string, options?: SqliteJournalOptions) => openSqliteJournal(openStateFolder(folder), options);
const seqs = (store: JournalStore, archived = true) => [...store.read({ archived })].map(({ seq }) => seq);
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const archivesIn = (folder: string) => readdirSync(folder).filter((name) => /\.(gz|part)$/.test(name));

async function calls(store: JournalStore, ...names: readonly string[]): Promise<void> {
  for (const name of names) await store.append([sampleIntent(name), sampleResult(name)]);
}

/** A journal whose archives go through `wrap`. */
function openWith(folder: string, wrap: (files: ArchiveFiles) => ArchiveFiles): JournalStore {
  const state = openStateFolder(folder);
  const masterKey = state.key();
  const path = state.file('journal.db');
  const options = { path, durability: 'normal', waitMs: 5000, birthMark: birthMark(masterKey) } as const;
  const archives = wrap(createArchiveFiles(state.path));
  const clock = createSystemClock();
  return createBlockJournal(createSqliteTables(connect(options)), {
    masterKey,
    clock,
    archives,
    checkpointEvery: 5000,
  });
}

function edit(folder: string, sql: string): void {
  const database = new DatabaseSync(join(folder, 'journal.db'));
  database.exec(sql);
  database.close();
}

/** A call that only read: its four records are one line of a block. */
const read = (callId: string): JournalRecord[] => [
  sampleRequested(callId, { at_ms: 5 }),
  sampleDecision(callId, { at_ms: 5 }),
  sampleIntent(callId, { at_ms: 5, retry_safe: true }),
  sampleResult(callId, { at_ms: 5, start_ts: 5, end_ts: 5 }),
];

describe('an archive', () => {
  test('gives back the records of reads and of other calls, and verifies with them [S1-41]', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    const written = [...read('a'), sampleIntent('b'), ...read('c'), sampleResult('b')];
    await store.append(written);
    await calls(store, 'd');
    await store.append(read('e'));
    await store.rotate({ keepRecords: 1 });
    await store.append(read('f'));
    const records = [...store.read({ archived: true })];
    assert.deepEqual(
      records.slice(0, written.length).map(({ seq: _, ...record }) => record),
      written,
    );
    assert.deepEqual(seqs(store), numbers(1, records.length));
    assert.deepEqual(
      records.filter(({ kind }) => kind === 'result').map((record) => 'call_id' in record && record.call_id),
      ['a', 'c', 'b', 'd', 'e', 'f'],
    );
    const { ok, archives } = store.verify(undefined, { archives: true });
    assert.deepEqual([ok, archives?.map(({ state }) => state)], [true, ['ok']]);
    await store.close();
  });

  test('is a private file that gunzip and a JSON reader understand', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    const record = sampleRequested('ä "quoted"\n😀');
    await store.append([record, sampleIntent('b')]);
    await store.append([sampleResult('b')]);
    const { archives, bytes } = await store.rotate({ keepRecords: 0 });
    const path = join(folder, archives[0] ?? '');
    assert.match(archives[0] ?? '', /^journal-1-3-[0-9a-f]{16}\.jsonl\.gz$/);
    assert.deepEqual([statSync(path).mode & 0o777, statSync(path).size], [0o600, bytes]);
    const lines = gunzipSync(readFileSync(path)).toString('utf8').trimEnd().split('\n');
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      parsed.map((line) => line['kind'] ?? Object.keys(line)[0]),
      [...['journal_archive', 'block', 'requested', 'intent', 'block', 'result']],
    );
    assert.deepEqual(parsed[2], record);
    assert.deepEqual(archivesIn(folder), archives);
    await store.close();
  });

  test('is one of several when there is much to move, each a link of one chain', async () => {
    const folder = newFolder();
    const store = openIn(folder, { maxArchiveLength: 2000 });
    for (let call = 0; call < 300; call++) await calls(store, `c${call}`);
    const { archives, records, through } = await store.rotate({ keepRecords: 100 });
    assert.ok(archives.length > 20);
    assert.deepEqual([records, through], [500, 500]);
    const head = store.head();
    assert.deepEqual(seqs(store), numbers(1, head.seq));
    const report = store.verify(undefined, { archives: true });
    assert.deepEqual([report.ok, report.records, report.archives?.length], [true, head.seq, archives.length]);
    await store.close();
    const again = openIn(folder);
    assert.equal(again.verify(head, { archives: true }).ok, true);
    assert.deepEqual((await again.prune({ keepArchives: 3 })).archives, archives.slice(0, -3));
    assert.deepEqual(archivesIn(folder).length, 3);
    await again.close();
  });

  test('takes records by age', async () => {
    let now = 1000;
    const clock = { now: () => now, monotonic: () => 0 };
    const store = openIn(newFolder(), { clock });
    for (now of [1000, 2000, 3000, 2500, 4000]) await calls(store, `at${now}`);
    now = 10_000;
    assert.equal((await store.rotate({ before: 1000 })).records, 0);
    assert.equal((await store.rotate({ before: 2001 })).through, 4);
    // Behind a younger block, an older one waits: archives hold one stretch of the chain.
    assert.equal((await store.rotate({ before: 2800 })).through, 4);
    assert.equal((await store.rotate({ before: 3001 })).through, 8);
    assert.deepEqual((await store.prune({ archivesOlderThanMs: 8000 })).records, 0);
    assert.deepEqual((await store.prune({ archivesOlderThanMs: 7900 })).records, 4);
    await store.close();
  });
});

describe('others who hold the journal open', () => {
  test('one that slept through rotations appends behind the head, not where blocks were moved away [S1-41]', async () => {
    const folder = newFolder();
    const [busy, sleeper] = [openIn(folder), openIn(folder)];
    await calls(sleeper, 'early');
    await calls(busy, 'a', 'b', 'c', 'd');
    await busy.rotate({ keepRecords: 2 });
    await calls(sleeper, 'late');
    await sleeper.claim({ scope: 's', key: 'k', argsHash: 'h', callId: 'x' }, [sampleIntent('x')]);
    const head = busy.head();
    assert.deepEqual(seqs(busy), numbers(1, head.seq));
    assert.deepEqual(busy.verify(sleeper.head(), { archives: true }).ok, true);
    await busy.close();
    await sleeper.close();
  });

  test('one that did not see a call end before it was archived does not take it for open [S1-42]', async () => {
    const folder = newFolder();
    const [busy, sleeper] = [openIn(folder, { checkpointEvery: 4 }), openIn(folder)];
    await busy.append([sampleIntent('long')]);
    assert.deepEqual(
      sleeper.unfinished().map(({ call_id }) => call_id),
      ['long'],
    );
    await calls(busy, 'a', 'b', 'c');
    await busy.append([sampleResult('long'), sampleIntent('open')]);
    await calls(busy, 'd');
    await busy.rotate({ keepRecords: 0 });
    assert.deepEqual(
      sleeper.unfinished().map(({ call_id }) => call_id),
      ['open'],
    );
    await busy.append([sampleResult('open')]);
    await busy.rotate({ keepRecords: 0 });
    const late = openIn(folder);
    assert.deepEqual([sleeper.unfinished(), late.unfinished()], [[], []]);
    for (const store of [busy, sleeper, late]) await store.close();
    assert.deepEqual(openIn(folder).verify(undefined, { archives: true }).ok, true);
  });

  test('a reader that takes its time misses nothing', async () => {
    const folder = newFolder();
    const [reader, writer] = [openIn(folder), openIn(folder, { maxArchiveLength: 20_000 })];
    for (let call = 0; call < 400; call++) await calls(writer, `c${call}`);
    const seen: number[] = [];
    for (const { seq } of reader.read()) {
      seen.push(seq);
      if (seq === 10 || seq === 500) await writer.rotate({ keepRecords: seq === 10 ? 400 : 0 });
    }
    assert.deepEqual(seen, numbers(1, writer.head().seq));
    await reader.close();
    await writer.close();
  });

  test('of two that rotate at once, one wins and the other leaves nothing behind', async () => {
    for (let round = 0; round < 5; round++) {
      const folder = newFolder();
      const [one, other] = [openIn(folder), openIn(folder)];
      for (let call = 0; call < 200; call++) await calls(one, `c${call}`);
      const reports = await Promise.all([one.rotate({ keepRecords: 100 }), other.rotate({ keepRecords: 100 })]);
      assert.deepEqual(reports.map(({ records }) => records).sort(), [0, 300]);
      assert.equal(archivesIn(folder).length, 1);
      assert.deepEqual(seqs(other), numbers(1, one.head().seq));
      assert.equal(other.verify(undefined, { archives: true }).ok, true);
      await one.close();
      await other.close();
    }
  });

  test('appends while the archive is written are kept', async () => {
    const store = openIn(newFolder(), { maxArchiveLength: 10_000 });
    for (let call = 0; call < 200; call++) await calls(store, `c${call}`);
    let running = true;
    const rotation = store.rotate({ keepRecords: 10 }).finally(() => {
      running = false;
    });
    let added = 0;
    for (; running; added++) {
      await calls(store, `late${added}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { archives } = await rotation;
    assert.ok(archives.length > 1 && added > 0);
    assert.deepEqual(seqs(store), numbers(1, store.head().seq));
    assert.equal([...store.read({ archived: true, kind: 'intent' })].length, 200 + added);
    assert.equal(store.verify(undefined, { archives: true }).ok, true);
    await store.close();
  });
});

describe('a rotation that cannot be finished', () => {
  test('being closed in the middle ends it, and leaves no unfinished file', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    for (let call = 0; call < 500; call++) await calls(store, `c${call}`);
    const rotation = store.rotate({ keepRecords: 0 });
    await new Promise((resolve) => setImmediate(resolve));
    await store.close();
    assert.deepEqual(await rotation, { records: 0, through: 0, archives: [], bytes: 0 });
    assert.deepEqual(archivesIn(folder), []);
    await assert.rejects(store.rotate({ keepRecords: 0 }), /Journal is closed/);
    const again = openIn(folder);
    assert.equal((await again.rotate({ keepRecords: 0 })).records, again.head().seq - 2);
    await again.close();
  });

  for (const step of ['create', 'write', 'finish', 'place'] as const) {
    test(`a failure to ${step} changes nothing, and the next one succeeds`, async () => {
      const folder = newFolder();
      let failing = true;
      const fail = () => {
        if (failing) throw new ToolError('E_INTERNAL', `no ${step}`);
      };
      const store = openWith(folder, (files) => ({
        ...files,
        async create() {
          if (step === 'create') fail();
          const draft = await files.create();
          if (step === 'create') return draft;
          return { ...draft, [step]: (argument: never) => fail() ?? draft[step](argument) };
        },
      }));
      await calls(store, 'a', 'b');
      const head = store.head();
      await assert.rejects(store.rotate({ keepRecords: 0 }), new RegExp(`no ${step}`));
      assert.deepEqual([store.head(), seqs(store, false), archivesIn(folder)], [head, [1, 2, 3, 4], []]);
      failing = false;
      assert.equal((await store.rotate({ keepRecords: 0 })).records, 4);
      assert.equal(store.verify(head, { archives: true }).ok, true);
      await store.close();
    });
  }

  test('a full journal has room again after a rotation', async () => {
    const store = openIn(newFolder(), { maxBytes: 4096 * 30, checkpointEvery: 1000 });
    const fill = async (name: string) => {
      for (let call = 0; ; call++) await calls(store, `${name}${call}`);
    };
    await assert.rejects(fill('first'), /full/);
    const [last] = store.unfinished();
    assert.equal(last, undefined);
    assert.ok((await store.rotate({ keepRecords: 4 })).records > 50);
    await calls(store, 'after');
    assert.equal(store.verify(undefined, { archives: true }).ok, true);
    await store.close();
  });

  test('what was tampered with is never moved behind a new base [S1-41]', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    await calls(store, 'a', 'b', 'c');
    edit(folder, `UPDATE block SET body = replace(body, '"b"', '"x"') WHERE first_seq = 3`);
    await assert.rejects(store.rotate({ keepRecords: 0 }), (thrown) => {
      assert.ok(isToolError(thrown));
      assert.deepEqual([thrown.message, thrown.details['reason']], ['Journal is damaged: record 3', 'mac mismatch']);
      return true;
    });
    assert.deepEqual([archivesIn(folder), store.verify().broken?.seq], [[], 3]);
    await store.close();
  });

  test('an archive of another life of the folder is left alone', async () => {
    const folder = newFolder();
    const first = openIn(folder);
    await calls(first, 'a', 'b');
    const [old] = (await first.rotate({ keepRecords: 0 })).archives;
    await first.close();
    for (const name of ['journal.db', 'journal.db-wal', 'journal.db-shm']) rmSync(join(folder, name), { force: true });
    const second = openIn(folder);
    await calls(second, 'c', 'd');
    const { archives } = await second.rotate({ keepRecords: 0 });
    assert.deepEqual(new Set(archivesIn(folder)), new Set([old, ...archives]));
    await second.close();
  });
});

describe('a base that was tampered with', () => {
  const folder = newFolder();
  let names: readonly string[] = [];
  const ready = (async () => {
    const store = openIn(folder);
    for (const name of ['a', 'b', 'c']) {
      await calls(store, name, `${name}2`);
      await store.rotate({ keepRecords: 0 });
    }
    names = store.verify(undefined, { archives: true }).archives?.map(({ archive }) => archive) ?? [];
    new DatabaseSync(join(folder, 'journal.db')).exec('PRAGMA wal_checkpoint(TRUNCATE)');
  })();
  let copies = 0;

  /** The base is at record 16; the archives end at 4, 10 and 16. */
  async function tampered(change: string | ((copy: string) => void)): Promise<VerifyReport> {
    await ready;
    const copy = openStateFolder(join(root, `copy-${copies++}`)).path;
    for (const name of ['journal.key', 'journal.db', ...names]) copyFileSync(join(folder, name), join(copy, name));
    cpSync(join(folder, 'heads'), join(copy, 'heads'), { recursive: true });
    if (typeof change === 'string') edit(copy, change);
    else change(copy);
    const store = openIn(copy);
    try {
      return store.verify(undefined, { archives: true });
    } finally {
      void store.close();
    }
  }

  test('the untouched copy verifies, so what follows is caused by the change [S1-41]', async () => {
    const report = await tampered('SELECT 1');
    assert.deepEqual([report.ok, report.base?.seq, report.head.seq, report.records], [true, 16, 18, 18]);
  });

  test('a forged, moved or missing base is found, and so is a list with a hole [S1-41]', async () => {
    const wrongSeal = /^base forged: /;
    const cases: readonly [string, RegExp][] = [
      ["UPDATE archive SET name = 'other' WHERE through = 4", wrongSeal],
      ['UPDATE archive SET through = 17 WHERE through = 16', wrongSeal],
      ['UPDATE archive SET through = 15 WHERE through = 16', wrongSeal],
      ['UPDATE archive SET through = 9000000000000000000 WHERE through = 16', /^unreadable: /],
      [`UPDATE archive SET mac = x'${'00'.repeat(32)}' WHERE through = 16`, wrongSeal],
      [`UPDATE archive SET seal = x'' WHERE through = 16`, wrongSeal],
      [`UPDATE archive SET seal = (SELECT seal FROM archive WHERE through = 4) WHERE through = 16`, wrongSeal],
      ["UPDATE archive SET sha256 = replace(sha256, substr(sha256, 1, 1), 'g')", wrongSeal],
      ['UPDATE archive SET bytes = bytes + 1', wrongSeal],
      ['UPDATE archive SET newest_at_ms = newest_at_ms - 1', wrongSeal],
      ['UPDATE archive SET head_seq = 0, content_seq = 0', wrongSeal],
      ['UPDATE archive SET pruned_at = 1', wrongSeal],
      ['DELETE FROM archive WHERE through = 4', /^base moved: /],
      ['DELETE FROM archive WHERE through = 10', /^base moved: /],
      ['DELETE FROM archive WHERE through = 16', /^gap: /],
      ['DELETE FROM archive', /^gap: /],
    ];
    for (const [sql, reason] of cases) {
      const { ok, broken } = await tampered(sql);
      assert.equal(ok, false, sql);
      assert.match(broken?.reason ?? '', reason, sql);
    }
  });

  test('a front or an end cut off behind the base is found, and so is a row put before it [S1-41]', async () => {
    assert.match((await tampered('DELETE FROM block')).broken?.reason ?? '', /^cut: the chain had come to record 18$/);
    const planted = `INSERT INTO block SELECT 2, count, at_ms, body, mac, claims FROM block WHERE first_seq = 17`;
    assert.match((await tampered(planted)).broken?.reason ?? '', /^overlap: /);
  });

  test('any byte changed in any archive is found, and named [S1-41] (deep)', async () => {
    await ready;
    for (const [at, name] of names.entries()) {
      const bytes = readFileSync(join(folder, name));
      for (let offset = 0; offset < bytes.length; offset += offset < 24 ? 1 : 13) {
        const changed = Buffer.from(bytes);
        changed[offset] = (changed[offset] ?? 0) ^ 1;
        const report = await tampered((copy) => writeFileSync(join(copy, name), changed));
        assert.equal(report.ok, false, `${name} at ${offset}`);
        assert.deepEqual(
          report.archives?.map(({ state }) => state),
          names.map((_, index) => (index === at ? 'broken' : 'ok')),
        );
        assert.ok(report.broken?.reason.startsWith(`archive ${name}: `));
      }
    }
  });

  test('an archive cut short, made longer, exchanged or not an archive is broken; one that is gone is missing [S1-41]', async () => {
    await ready;
    const [first = '', second = '', third = ''] = names;
    const bytes = readFileSync(join(folder, second));
    const changes: readonly ((copy: string) => void)[] = [
      (copy) => writeFileSync(join(copy, second), bytes.subarray(0, -1)),
      (copy) => writeFileSync(join(copy, second), ''),
      (copy) => writeFileSync(join(copy, second), Buffer.concat([bytes, bytes])),
      (copy) => writeFileSync(join(copy, second), Buffer.concat([bytes, Buffer.from('x')])),
      (copy) => writeFileSync(join(copy, second), randomBytes(500)),
      (copy) => copyFileSync(join(folder, first), join(copy, second)),
      (copy) => copyFileSync(join(folder, third), join(copy, second)),
    ];
    for (const change of changes) {
      const { ok, archives } = await tampered(change);
      assert.deepEqual([ok, archives?.map(({ state }) => state)], [false, ['ok', 'broken', 'ok']], String(change));
    }
    const text = gunzipSync(bytes).toString('utf8');
    const repacked = await encodePage(text.replace(/"previous_mac":"./, '"previous_mac":"x'));
    const other = await tampered((copy) => writeFileSync(join(copy, second), repacked));
    assert.match(other.broken?.reason ?? '', /: digest mismatch: /);
    const gone = await tampered((copy) => rmSync(join(copy, second)));
    assert.deepEqual([gone.ok, gone.archives?.map(({ state }) => state)], [false, ['ok', 'missing', 'ok']]);
    assert.match(gone.broken?.reason ?? '', /^archive journal-.* is missing: records \d+ to \d+$/);
  });

  test('a journal with a forged base is neither rotated nor pruned [S1-41]', async () => {
    const copy = newFolder();
    const store = openIn(copy);
    await calls(store, 'a');
    await store.rotate({ keepRecords: 0 });
    await calls(store, 'b');
    edit(copy, 'UPDATE archive SET newest_at_ms = 0');
    await assert.rejects(store.rotate({ keepRecords: 0 }), /Journal is damaged: record 1/);
    await assert.rejects(store.prune({ archivesOlderThanMs: 1000 }), /Journal is damaged: record 1/);
    assert.equal(archivesIn(copy).length, 1);
    await store.close();
  });

  test('reading a damaged archive says which one', async () => {
    await ready;
    const copy = openStateFolder(join(root, `copy-${copies++}`)).path;
    for (const name of ['journal.key', 'journal.db', ...names]) copyFileSync(join(folder, name), join(copy, name));
    cpSync(join(folder, 'heads'), join(copy, 'heads'), { recursive: true });
    writeFileSync(join(copy, names[1] ?? ''), 'garbage');
    const store = openIn(copy);
    assert.throws(
      () => seqs(store),
      (thrown) => isToolError(thrown) && String(thrown.details['reason']).includes(names[1] ?? '-'),
    );
    assert.deepEqual(seqs(store, false), [17, 18]);
    await store.close();
  });
});

describe('what else grows', () => {
  test('processes that signed off are forgotten, but for those with an open intent', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    for (const id of ['live', 'gone', 'lost']) store.enroll({ id, pid: 1, birth: id });
    await store.append([sampleIntent('a', { instance: 'lost' }), sampleIntent('b', { instance: 'live' })]);
    store.retire('gone');
    store.retire('lost');
    assert.equal((await store.prune({})).instances, 1);
    await store.append([sampleResult('a')]);
    assert.equal((await store.prune({})).instances, 1);
    assert.deepEqual(
      store.instances().map(({ id }) => id),
      ['live'],
    );
    await store.close();
  });

  test('many answers are forgotten in steps', async () => {
    const folder = newFolder();
    let now = 1000;
    const store = openIn(folder, { clock: { now: () => now, monotonic: () => 0 } });
    await store.atomically(() => {
      for (let call = 0; call < 12_000; call++) {
        void store.claim({ scope: 'idempotency:a', key: `${call}`, argsHash: 'h', callId: 'c' }, []);
        void store.settle('idempotency:a', `${call}`, 1, []);
      }
    });
    now = 2000;
    assert.equal((await store.prune({ answersOlderThanMs: 500 })).answers, 12_000);
    assert.equal([...store.read({ kind: 'rotation' })].length, 3);
    assert.equal(store.verify().ok, true);
    await store.close();
  });

  test('a pruned archive that was not deleted in time is deleted the next time', async () => {
    const folder = newFolder();
    let failing = true;
    const store = openWith(folder, (files) => ({
      ...files,
      remove(name) {
        if (failing) throw new ToolError('E_INTERNAL', 'no remove');
        files.remove(name);
      },
    }));
    await calls(store, 'a');
    failing = false;
    await store.rotate({ keepRecords: 0 });
    failing = true;
    await assert.rejects(store.prune({ keepArchives: 0 }), /no remove/);
    assert.equal(store.verify(undefined, { archives: true }).archives?.[0]?.state, 'pruned');
    assert.deepEqual(seqs(store), [3, 4, 5]);
    failing = false;
    assert.equal(archivesIn(folder).length, 1);
    await store.prune({});
    assert.deepEqual(archivesIn(folder), []);
    await store.close();
  });

  test('a journal of the first version is taken over, answers and all', async () => {
    const folder = newFolder();
    const first = openIn(folder);
    await first.claim({ scope: 'idempotency:a', key: 'k', argsHash: 'h', callId: 'a' }, [sampleIntent('a')]);
    await first.settle('idempotency:a', 'k', 7, [sampleResult('a')]);
    await first.close();
    makeLegacy(folder, 1);
    const second = openIn(folder);
    assert.deepEqual(await second.lookup('idempotency:a', 'k', 'h'), { state: 'done', callId: 'a', answer: 7 });
    assert.equal((await second.prune({ answersOlderThanMs: 60_000 })).answers, 0);
    assert.equal((await second.prune({ answersOlderThanMs: 0 })).answers, 1);
    assert.equal((await second.rotate({ keepRecords: 0 })).records, 5);
    assert.equal(second.verify(undefined, { archives: true }).ok, true);
    await second.close();
  });
});

type Step =
  | { readonly do: 'append'; readonly records: readonly JournalRecord[] }
  | { readonly do: 'rotate'; readonly keep: number }
  | { readonly do: 'other' | 'reopen' | 'close_calls' }
  | { readonly do: 'prune'; readonly keep: number };

test('whatever is appended, rotated, pruned and reopened, archives and journal add up to what was written [S1-41 S1-42] (deep)', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const record: fc.Arbitrary<JournalRecord> = fc.oneof(
    name.map((callId) => sampleIntent(callId)),
    name.map((callId) => sampleResult(callId)),
    fc.tuple(name, fc.string({ unit: 'grapheme' })).map(([callId, text]) => sampleRequested(callId, { tool: text })),
  );
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(record, { minLength: 1, maxLength: 4 })
        .map((records) => ({ do: 'append' as const, records })),
    },
    { weight: 3, arbitrary: fc.nat({ max: 12 }).map((keep) => ({ do: 'rotate' as const, keep })) },
    {
      weight: 3,
      arbitrary: fc.constantFrom({ do: 'other' as const }, { do: 'reopen' as const }, { do: 'close_calls' as const }),
    },
    { weight: 1, arbitrary: fc.nat({ max: 4 }).map((keep) => ({ do: 'prune' as const, keep })) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => runSteps(newFolder(), steps)),
    { numRuns: 60 },
  );
});

/** Two stores on one folder take turns; the model is the list of all records that are not the stores' own. */
async function runSteps(folder: string, steps: readonly Step[]): Promise<void> {
  const open = () => openIn(folder, { checkpointEvery: 7, maxArchiveLength: 900 });
  const stores = [open(), open()];
  const model: JournalRecord[] = [];
  const openCalls = new Set<string>();
  let deleted = 0;
  const append = async (store: JournalStore, records: readonly JournalRecord[]) => {
    await store.append(records);
    for (const record of records) {
      model.push(record);
      if (record.kind === 'intent') openCalls.add(record.call_id);
      if (record.kind === 'result') openCalls.delete(record.call_id);
    }
  };
  for (const step of steps) {
    const store = stores[0] as JournalStore;
    if (step.do === 'append') await append(store, step.records);
    else if (step.do === 'close_calls')
      await append(
        store,
        [...openCalls].map((callId) => sampleResult(callId)),
      );
    else if (step.do === 'rotate') await store.rotate({ keepRecords: step.keep });
    else if (step.do === 'prune') deleted += (await store.prune({ keepArchives: step.keep })).records;
    else {
      if (step.do === 'reopen') await store.close();
      stores.push(step.do === 'reopen' ? open() : store);
      stores.shift();
    }
    checkStores(stores, { model, openCalls, deleted });
  }
  for (const store of stores) await store.close();
}

interface Model {
  readonly model: readonly JournalRecord[];
  readonly openCalls: ReadonlySet<string>;
  readonly deleted: number;
}

function checkStores(stores: readonly JournalStore[], { model, openCalls, deleted }: Model): void {
  for (const store of stores) {
    const head = store.head();
    const read = [...store.read({ archived: true })];
    assert.deepEqual(
      read.map(({ seq }) => seq),
      numbers(deleted + 1, head.seq),
    );
    const own = new Set(['checkpoint', 'rotation']);
    const contents = read.filter(({ kind }) => !own.has(kind)).map(({ seq: _, ...record }) => record);
    assert.deepEqual(contents, model.slice(model.length - contents.length));
    if (deleted === 0) assert.equal(contents.length, model.length);
    assert.deepEqual(new Set(store.unfinished().map(({ call_id }) => call_id)), openCalls);
    const report = store.verify(head, { archives: true });
    assert.deepEqual([report.ok, report.records], [true, head.seq - deleted], report.broken?.reason);
  }
}
