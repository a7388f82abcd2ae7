import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import type { JournalRecord } from '../../contracts/journal.ts';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { journalStoreSuite } from '../../testing/journal-suite.ts';
import { sampleDecision, sampleIntent, sampleRequested, sampleResult } from '../../testing/sample-records.ts';
import { createSeal } from './block-body.ts';
import { openSqliteJournal, type SqliteJournalOptions } from './journal-sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'journal-sqlite-'));
after(() => rmSync(root, { recursive: true, force: true }));

const newFolder = () => mkdtempSync(join(root, 'state-'));
const openIn = (folder: string, options?: SqliteJournalOptions) => openSqliteJournal(openStateFolder(folder), options);
const fails = (message: RegExp) => (thrown: unknown) =>
  isToolError(thrown) && thrown.code === 'E_INTERNAL' && message.test(thrown.message);

journalStoreSuite('journal-sqlite', () => openIn(newFolder()));
journalStoreSuite('journal-sqlite at full durability', () => openIn(newFolder(), { durability: 'full' }));

describe('state that outlives the process', () => {
  test('records, keys and the chain are there after reopening [S1-41 S1-43]', async () => {
    const folder = newFolder();
    const first = openIn(folder);
    await first.claim({ scope: 's', key: 'k', argsHash: 'h', callId: 'a' }, [sampleIntent('a')]);
    await first.settle('s', 'k', { data: 1 }, [sampleResult('a')]);
    await first.close();
    const second = openIn(folder);
    await second.append([sampleIntent('b')]);
    assert.deepEqual(await second.lookup('s', 'k', 'h'), { state: 'done', callId: 'a', answer: { data: 1 } });
    assert.deepEqual(
      [...second.read()].map(({ seq, kind }) => `${seq} ${kind}`),
      ['1 intent', '2 result', '3 checkpoint', '4 intent'],
    );
    assert.equal(second.verify().ok, true);
    await second.close();
  });

  test('a journal of version 4, with a line for every record of a read, is verified, read and continued [S1-41]', async () => {
    const read = (callId: string): JournalRecord[] => [
      sampleRequested(callId, { at_ms: 5 }),
      sampleDecision(callId, { at_ms: 5 }),
      sampleIntent(callId, { at_ms: 5, retry_safe: true }),
      sampleResult(callId, { at_ms: 5, start_ts: 5, end_ts: 5 }),
    ];
    const folder = newFolder();
    const first = openIn(folder);
    await first.append([sampleIntent('a')]);
    await first.close();
    const lines = read('b').map((record) => JSON.stringify(record));
    const database = new DatabaseSync(join(folder, 'journal.db'));
    const last = database.prepare('SELECT lower(hex(mac)) AS mac FROM block WHERE first_seq = 2').get()?.['mac'];
    const block = { first_seq: 3, count: lines.length, at_ms: 5, claims: null, body: lines.join('\n') };
    const mac = createSeal(openStateFolder(folder).key())(String(last), block);
    database
      .prepare('INSERT INTO block (first_seq, count, at_ms, body, mac) VALUES (3, ?, 5, ?, unhex(?))')
      .run(block.count, block.body, mac);
    database.exec('PRAGMA user_version = 4');
    database.close();
    const second = openIn(folder);
    assert.equal(second.verify().records, 6);
    await second.append(read('c'));
    assert.deepEqual(
      [...second.read({ kind: 'result' })].map(({ seq, ...record }) => [seq, record]),
      [
        [6, read('b')[3]],
        [10, read('c')[3]],
      ],
    );
    assert.deepEqual([second.verify().ok, second.verify().records], [true, 10]);
    await second.close();
  });

  test('unfinished work is found from the last checkpoint, however far back its intent stands [S1-42]', async () => {
    const folder = newFolder();
    const first = openIn(folder, { checkpointEvery: 10 });
    await first.append([sampleIntent('lost')]);
    for (let call = 0; call < 40; call++) await first.append([sampleIntent(`c${call}`), sampleResult(`c${call}`)]);
    await first.append([sampleIntent('late')]);
    await first.close();
    const second = openIn(folder);
    assert.deepEqual(
      second.unfinished().map(({ call_id, seq }) => [call_id, seq]),
      [
        ['lost', 1],
        ['late', second.head().seq - 1],
      ],
    );
    assert.ok([...second.read({ kind: 'checkpoint' })].length > 5);
    await second.close();
  });

  test('a mark that points at no checkpoint is not believed [S1-42]', async () => {
    const folder = newFolder();
    const first = openIn(folder);
    await first.append([sampleIntent('lost')]);
    await first.append([sampleRequested('b')]);
    await first.close();
    edit(folder, 'UPDATE mark SET seq = 2');
    const second = openIn(folder);
    assert.deepEqual(
      second.unfinished().map(({ call_id }) => call_id),
      ['lost'],
    );
    await second.close();
  });

  test('the entry of a process that ended is kept as long as a key of it waits [S1-43]', async () => {
    const store = openIn(newFolder());
    for (const id of ['free', 'holder']) {
      store.enroll({ id, pid: 1, birth: 'b' });
      store.retire(id);
    }
    const claim = { scope: 's', key: 'k', argsHash: 'h', callId: 'a', instance: 'holder' };
    await store.claim(claim, [sampleIntent('a', { instance: 'holder' }), sampleResult('a')]);
    assert.equal((await store.prune({})).instances, 1);
    assert.deepEqual([store.findInstance('free'), store.findInstance('holder')?.retired], [undefined, true]);
    await store.settle('s', 'k', 1, [sampleResult('a')]);
    assert.equal((await store.prune({})).instances, 1);
    await store.close();
  });

  test('claims that change without a record are part of the chain all the same [S1-43]', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    await store.claim({ scope: 's', key: 'k', argsHash: 'h', callId: 'a' }, []);
    await store.settle('s', 'k', 1, []);
    await store.claim({ scope: 's', key: 'l', argsHash: 'h', callId: 'b' }, []);
    await store.release('s', 'l', []);
    assert.equal(store.verify().broken, undefined);
    await store.close();
    edit(folder, 'DELETE FROM key_claim');
    const second = openIn(folder);
    assert.match(second.verify().broken?.reason ?? '', /^claims: there are 0 claims where the chain has 1$/);
    await second.close();
  });

  test('two stores in one process see each other and take turns', async () => {
    const folder = newFolder();
    const [one, other] = [openIn(folder), openIn(folder)];
    assert.deepEqual(other.unfinished(), []);
    for (let turn = 0; turn < 20; turn++) {
      await Promise.all([one.append([sampleIntent(`one${turn}`)]), other.append([sampleIntent(`other${turn}`)])]);
      await one.append([sampleResult(`other${turn}`)]);
    }
    assert.equal(other.unfinished().length, 20);
    assert.deepEqual(other.head(), one.head());
    assert.deepEqual(other.verify(one.head()), { ok: true, records: 60, head: one.head() });
    await one.close();
    await other.close();
  });
});

describe('places that cannot hold a journal', () => {
  test('database, log and key are closed to others', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    await store.append([sampleIntent('a')]);
    for (const name of ['journal.db', 'journal.db-wal', 'journal.db-shm', 'journal.key']) {
      assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
    }
    await store.close();
  });

  test('a file that is no database is refused and left alone [S1-41]', () => {
    const folder = newFolder();
    openStateFolder(folder).key();
    const garbage = 'this is not a database, it is a letter. '.repeat(300);
    writeFileSync(join(folder, 'journal.db'), garbage, { mode: 0o600 });
    assert.throws(() => openIn(folder), fails(/^Journal is not a database: journal\.db$/));
    assert.equal(readFileSync(join(folder, 'journal.db'), 'utf8'), garbage);
  });

  test('a database that lost its tail is named as damaged [S1-41]', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    for (let call = 0; call < 200; call++) await store.append([sampleIntent(`c${call}`)]);
    await store.close();
    truncateSync(join(folder, 'journal.db'), 8192 * 4);
    const error = thrownBy(() => {
      const damaged = openIn(folder);
      try {
        const report = damaged.verify();
        assert.equal(report.ok, false);
        [...damaged.read()];
      } finally {
        void damaged.close();
      }
    });
    assert.match(error.message, /^Journal is damaged: /);
  });

  test('a journal without its key is refused; an empty folder gets a new one', async () => {
    const folder = newFolder();
    const store = openIn(folder);
    await store.append([sampleIntent('a')]);
    await store.close();
    rmSync(join(folder, 'journal.key'));
    assert.match(thrownBy(() => openIn(folder)).message, /journal\.key is missing/);
    await openIn(newFolder()).close();
  });

  test('a linked or widely readable database is refused', () => {
    const linked = newFolder();
    openStateFolder(linked).key();
    writeFileSync(join(root, 'elsewhere.db'), '', { mode: 0o600 });
    symlinkSync(join(root, 'elsewhere.db'), join(linked, 'journal.db'));
    assert.match(thrownBy(() => openIn(linked)).message, /symbolic link/);
    const readable = newFolder();
    openStateFolder(readable).file('journal.db');
    openStateFolder(readable);
    chmodSync(join(readable, 'journal.db'), 0o644);
    writeFileSync(join(readable, 'journal.key'), Buffer.alloc(32, 1), { mode: 0o600 });
    assert.match(thrownBy(() => openIn(readable)).message, /open to others/);
  });

  test('a journal of a newer version is refused', async () => {
    const folder = newFolder();
    await openIn(folder).close();
    edit(folder, 'PRAGMA user_version = 99');
    assert.match(thrownBy(() => openIn(folder)).message, /newer version/);
  });

  test('section 6 item 17: a full journal refuses the whole batch, writes nothing of it, and works again with room', async () => {
    const folder = newFolder();
    const small = openIn(folder, { maxBytes: 8192 * 14, checkpointEvery: 3 });
    let stored = 0;
    const refused = await (async () => {
      for (; stored < 1000; stored++) {
        const twins = [small.append([sampleIntent(`a${stored}`)]), small.append([sampleIntent(`b${stored}`)])];
        const outcomes = await Promise.allSettled(twins);
        if (outcomes.some(({ status }) => status === 'rejected')) return outcomes;
      }
      return [];
    })();
    assert.deepEqual(
      refused.map((outcome) => outcome.status === 'rejected' && outcome.reason.message),
      ['Journal storage is full: journal.db', 'Journal storage is full: journal.db'],
    );
    const reason: ToolError = (refused[0] as PromiseRejectedResult).reason;
    assert.deepEqual(
      [reason.code, reason.details['kind'], reason.details['retry']],
      ['E_INTERNAL', 'journal_failure', 'repair_needed'],
    );
    const claim = { scope: 's', key: 'k', argsHash: 'h', callId: 'z' };
    const large = sampleIntent('z', { tool: 'x'.repeat(60_000) });
    await assert.rejects(async () => small.claim(claim, [large]), fails(/full/));
    assert.deepEqual(await small.lookup('s', 'k', 'h'), { state: 'new' });
    const kept = [...small.read({ kind: 'intent' })].length;
    assert.equal(kept, stored * 2);
    await small.close();
    const roomy = openIn(folder);
    assert.deepEqual(await roomy.claim(claim, [large]), { state: 'new' });
    assert.equal([...roomy.read({ kind: 'intent' })].length, kept + 1);
    assert.equal(roomy.verify().ok, true);
    await roomy.close();
  });
});

function edit(folder: string, sql: string): void {
  const database = new DatabaseSync(join(folder, 'journal.db'));
  database.exec(sql);
  database.close();
}

function thrownBy(work: () => unknown): ToolError {
  try {
    work();
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    return thrown;
  }
  return assert.fail('nothing was thrown');
}
