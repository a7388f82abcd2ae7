import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import type { JournalStore, KeyState } from '../src/contracts/journal.ts';
import { createBlockJournal } from '../src/journal/store/block-journal.ts';
import { openJournalReader } from '../src/journal/store/journal-reader.ts';
import { openSqliteJournal } from '../src/journal/store/journal-sqlite.ts';
import { connect } from '../src/journal/store/sqlite-schema.ts';
import { createSqliteTables } from '../src/journal/store/sqlite-tables.ts';
import { createArchiveFiles } from '../src/platform/state/archive-files.ts';
import { openStateFolder } from '../src/platform/state/state-folder.ts';
import { createSystemClock } from '../src/platform/system-clock.ts';
import { sampleIntent, sampleResult } from '../src/testing/sample-records.ts';
import {
  claimOf,
  editDatabase,
  fillFolder,
  INVENT_CLAIM,
  keyed,
  openUnchanged,
  SCOPE,
  type Tampering,
  tamperings,
} from './journal-tamper.ts';
import { makeLegacy } from './legacy-journal.ts';

/** A thousand journals are written and synced here; a disk in memory makes that seconds instead of minutes. */
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'journal-tamper-'));
after(() => rmSync(root, { recursive: true, force: true }));

const [original, foreign] = [join(root, 'original'), join(root, 'foreign')];
await fillFolder(original);
await fillFolder(foreign);
let copies = 0;

function copyOf(folder: string): string {
  const copy = openStateFolder(join(root, `copy-${copies++}`)).path;
  cpSync(folder, copy, { recursive: true });
  return copy;
}

const openIn = (folder: string): JournalStore => openSqliteJournal(openStateFolder(folder));

/** Why verify fails, or `ok`. Looks like a person with the command does. */
function verdict(folder: string): string {
  try {
    const reader = openJournalReader(folder);
    try {
      const { ok, broken } = reader.verify(undefined, { archives: true });
      return ok ? 'ok' : (broken?.reason ?? '');
    } finally {
      reader.close();
    }
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

const KEYS = ['old', 'archived', 'new', 'other', 'running', 'never'];

/** What a caller can be told and what a reader can see. */
interface World {
  readonly records: readonly string[];
  readonly states: readonly (KeyState | string)[];
  /** Processes that count as gone, so that their calls may run again. */
  readonly gone: readonly string[];
}

function worldOf(folder: string): World {
  const store = openIn(folder);
  try {
    const names = [...KEYS.map((key) => [SCOPE, key]), ['dedupe', 'guard'], ['dedupe', 'released']] as const;
    return {
      records: [...store.read({ archived: true })].map((record) => JSON.stringify(record)),
      states: names.map(([scope = '', key = '']) => attempt(() => store.lookup(scope, key, 'h') as KeyState)),
      gone: ['living', 'gone', 'invented'].filter((id) => store.findInstance(id)?.retired === true),
    };
  } finally {
    void store.close();
  }
}

function attempt<T>(work: () => T): T | string {
  try {
    return work();
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

const truth = worldOf(copyOf(original));

/**
 * These change no answer. A mark says where to begin a scan and is believed only where a checkpoint
 * stands, so it makes the scan longer or shorter and never different. The entry of a process is needed to take it for
 * dead: without it no call runs again. The version is compared with what the chain says (`seal-legacy.ts`). SQLite
 * reads the last byte of the last page as the zero it was.
 */
const HARMLESS = [
  /^mark /,
  /^mark\./,
  /^instance row \d+ deleted$/,
  /^instance emptied$/,
  /^version [0-4]$/,
  /^journal\.db cut by one byte$/,
];

/** The newest block: a chain without it is shorter and whole, and nothing in the folder tells otherwise. */
const UNDETECTABLE = new RegExp(`^block row ${countBlocks(original) - 1} deleted$`);

function countBlocks(folder: string): number {
  const database = openUnchanged(folder);
  const count = Number(database.prepare('SELECT count(*) AS count FROM block').get()?.['count']);
  database.close();
  return count;
}

/** What is not as it was, apart from having become more careful. */
function effectOf(world: World): string | undefined {
  if (JSON.stringify(world.records) !== JSON.stringify(truth.records)) return 'other records';
  if (JSON.stringify(world.states) !== JSON.stringify(truth.states)) return 'other answers';
  return world.gone.every((id) => truth.gone.includes(id)) ? undefined : 'a process counts as gone';
}

describe('whatever is changed in the folder', () => {
  for (const [area, changes] of tamperings(original, foreign)) {
    test(`verify fails, or says nothing else: ${area} [S1-41 S1-43]`, async () => {
      const done = { applied: 0, found: 0 };
      for (const change of changes) {
        const folder = copyOf(original);
        if (!applied(change.apply, folder)) continue;
        done.applied++;
        if (await isFound(change.name, folder)) done.found++;
        rmSync(folder, { recursive: true });
      }
      assert.ok(done.applied > 0 && (done.found > 0 || area === 'table mark'), JSON.stringify(done));
    });
  }

  test('random bit flips: verify fails, or records and answers are the same [S1-41]', () => {
    const files = filesIn(original);
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.nat(), fc.nat({ max: 7 }), (name, place, bit) => {
        const folder = copyOf(original);
        const bytes = readFileSync(join(folder, name));
        const at = place % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        writeFileSync(join(folder, name), bytes);
        if (verdict(folder) === 'ok') assert.equal(effectOf(worldOf(folder)), undefined);
        rmSync(folder, { recursive: true });
      }),
      { numRuns: 300 },
    );
  });
});

/** Whether verify finds it. Where it does not, nothing may follow from it; where it does, it must go on doing so. */
async function isFound(name: string, folder: string): Promise<boolean> {
  const found = verdict(folder);
  const world = attempt(() => worldOf(folder));
  for (const [at, state] of typeof world === 'string' ? [] : world.states.entries()) {
    if (typeof state !== 'string' && state.state === 'done') assert.deepEqual(state, truth.states[at], name);
  }
  if (found === 'ok') {
    if (UNDETECTABLE.test(name)) return false;
    assert.ok(
      HARMLESS.some((pattern) => pattern.test(name)),
      `missed: ${name}`,
    );
    assert.equal(typeof world === 'string' ? world : effectOf(world), undefined, name);
    return false;
  }
  if (typeof world !== 'string' && (await workOn(folder)) && !isForgettable(name, found))
    assert.notEqual(verdict(folder), 'ok', `no longer found: ${name}: ${found}`);
  return true;
}

/**
 * A file that is gone or holds nothing is a new journal to the next process that opens it. An entry of a process that cannot be
 * believed has no effect, and goes with those of the others that ended.
 */
function isForgettable(name: string, found: string): boolean {
  if (name === 'emptied and made new' || found.startsWith('processes: ')) return true;
  return /^journal\.\w+ is (missing|empty): /.test(found);
}

/** False where the database itself does not allow the change. */
function applied(apply: Tampering['apply'], folder: string): boolean {
  try {
    apply(folder);
    return true;
  } catch {
    return false;
  }
}

/** Another runtime comes, makes calls with and without keys, rotates and goes. False when it cannot even open. */
async function workOn(folder: string): Promise<boolean> {
  let store: JournalStore;
  try {
    store = openIn(folder);
  } catch {
    return false;
  }
  const step = async (work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch {
      // What was changed may be in the way; the rest of the work goes on.
    }
  };
  await step(() => store.append([sampleIntent('later'), sampleResult('later')]));
  await step(() => keyed(store, 'fresh'));
  await step(() => store.settle(SCOPE, 'running', { answer: 'late' }, [sampleResult('running')]));
  await step(() => store.rotate({ keepRecords: 4 }));
  await step(() => keyed(store, 'fresher'));
  await step(() => store.prune({ answersOlderThanMs: 0 }));
  await step(() => store.close());
  return true;
}

describe('claims put back', () => {
  test('a row of an earlier day is found, alone or with what hides it from the runtime [S1-43]', async () => {
    const folder = copyOf(original);
    const early = copyOf(folder);
    const store = openIn(folder);
    await store.settle(SCOPE, 'running', { answer: 'running' }, [sampleResult('running')]);
    await store.close();
    assert.equal(verdict(folder), 'ok');
    const restore = `ATTACH '${join(early, 'journal.db')}' AS early;
      INSERT OR REPLACE INTO key_claim SELECT * FROM early.key_claim WHERE key = 'running'`;
    editDatabase(folder, restore);
    assert.match(verdict(folder), /^claims: a claim was replaced/);
    await workOn(folder);
    assert.match(verdict(folder), /^claims: /);
  });

  test('a total hidden from the next writer is found behind what it wrote [S1-43]', async () => {
    const folder = copyOf(original);
    editDatabase(folder, `DELETE FROM key_claim WHERE key = 'running'`);
    hideTotals(folder, `first_seq < (SELECT max(first_seq) FROM block WHERE body LIKE '%"call_id":"running"%')`);
    const store = openIn(folder);
    await keyed(store, 'fresh');
    await store.close();
    assert.match(verdict(folder), /^claims rolled back: /);
  });

  test('a claim invented where there never was one is not taken over with an older version [S1-43]', async () => {
    const folder = openStateFolder(join(root, 'unkeyed')).path;
    const store = openIn(folder);
    await store.append([sampleIntent('a'), sampleResult('a')]);
    // Left as a killed process leaves it: without the checkpoint of a clean end.
    const copy = copyOf(folder);
    await store.close();
    editDatabase(copy, `${INVENT_CLAIM}; PRAGMA user_version = 3`);
    assert.match(verdict(copy), /^claims: /);
    await workOn(copy);
    assert.match(verdict(copy), /^claims: /);
  });

  test('a chain cut back to before its rotation is not sealed anew [S1-43]', async () => {
    const folder = openStateFolder(join(root, 'cut-back')).path;
    const store = openIn(folder);
    await keyed(store, 'a');
    for (const name of ['b', 'c', 'd']) await store.append([sampleIntent(name), sampleResult(name)]);
    await store.rotate({ keepRecords: 4 });
    await store.close();
    assert.equal(verdict(folder), 'ok');
    editDatabase(
      folder,
      `DELETE FROM block WHERE first_seq >= (SELECT first_seq FROM block WHERE claims IS NOT NULL);
      UPDATE key_claim SET answer = '"forged"'`,
    );
    assert.match(verdict(folder), /^cut: /);
    await workOn(folder);
    const later = openIn(folder);
    assert.throws(() => later.lookup(SCOPE, 'a', 'h'), /changed outside the runtime/);
    await later.close();
  });

  test('an index that does not hold what the table holds is found before the first write', () => {
    const folder = copyOf(original);
    hideTotals(folder, 'first_seq < 0');
    assert.match(verdict(folder), /^damaged: .*block_total/);
  });
});

/** Leaves in the index of totals only those that fit the condition, as if its pages had been edited. */
function hideTotals(folder: string, condition: string): void {
  const database = new DatabaseSync(join(folder, 'journal.db'));
  const kept = database.prepare(`SELECT first_seq FROM block WHERE claims IS NOT NULL AND ${condition}`).all();
  const list = kept.map(({ first_seq }) => String(first_seq)).join(', ') || '-1';
  const text = `CREATE INDEX block_total ON block (first_seq) WHERE claims IS NOT NULL`;
  database.enableDefensive?.(false);
  database.exec(`DROP INDEX block_total; ${text} AND first_seq IN (${list}); PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = '${text}' WHERE name = 'block_total'; PRAGMA writable_schema = RESET`);
  database.close();
}

describe('an untouched journal', () => {
  test('verifies as it lies, copied, after more work, rotated, pruned and restored [S1-41]', async () => {
    assert.equal(verdict(original), 'ok');
    const copy = copyOf(original);
    assert.equal(verdict(copy), 'ok');
    assert.equal(await workOn(copy), true);
    assert.equal(verdict(copy), 'ok');
    const store = openIn(copy);
    await store.rotate({ keepRecords: 0 });
    await store.prune({ keepArchives: 0, answersOlderThanMs: 0 });
    assert.equal(store.verify(undefined, { archives: true }).ok, true);
    await store.close();
    assert.equal(verdict(copy), 'ok');
    const backup = copyOf(original);
    for (const name of readdirSync(copy)) rmSync(join(copy, name), { recursive: true });
    cpSync(backup, copy, { recursive: true });
    assert.equal(verdict(copy), 'ok');
    assert.equal(effectOf(worldOf(copy)), undefined);
  });

  test('a rotation that moves every record takes the claims along [S1-43]', async () => {
    const folder = openStateFolder(join(root, 'all-moved')).path;
    const store = openIn(folder);
    await keyed(store, 'a');
    await store.rotate({ keepRecords: 0 });
    await store.prune({ keepArchives: 0 });
    await store.close();
    assert.equal(verdict(folder), 'ok');
    editDatabase(folder, 'DELETE FROM key_claim');
    assert.match(verdict(folder), /^claims: there are 0 claims where the chain has 1$/);
  });

  test('verifies while another process claims a key [S1-43]', async () => {
    const state = openStateFolder(copyOf(original));
    const masterKey = state.key();
    const other = openSqliteJournal(state);
    const path = state.file('journal.db');
    const tables = createSqliteTables(connect({ path, durability: 'normal', waitMs: 5000, birthMark: '' }));
    const keys = () => {
      void other.claim(claimOf(`meanwhile ${copies++}`), [sampleIntent('meanwhile')]);
      return tables.keys();
    };
    const archives = createArchiveFiles(state.path);
    const clock = createSystemClock();
    const options = { masterKey, clock, archives, checkpointEvery: 5000 };
    const store = createBlockJournal({ ...tables, keys }, options);
    assert.equal(store.verify().broken, undefined);
    await other.close();
    await store.close();
  });

  test('verifies in copies made while it is written [S1-41]', async () => {
    const folder = copyOf(original);
    const store = openIn(folder);
    for (let round = 0; round < 12; round++) {
      await keyed(store, `round${round}`);
      await store.append([sampleIntent(`plain${round}`), sampleResult(`plain${round}`)]);
      assert.equal(verdict(copyOf(folder)), 'ok', `copy ${round}`);
      assert.equal(verdict(folder), 'ok', `itself ${round}`);
    }
    await store.close();
    assert.equal(verdict(folder), 'ok');
  });

  test('a new one verifies with no record, and not once its mark is gone', async () => {
    const folder = join(root, 'new');
    await openIn(folder).close();
    assert.equal(verdict(folder), 'ok');
    editDatabase(folder, 'DELETE FROM birth');
    assert.match(verdict(folder), /^emptied: /);
  });

  test('of version 1 to 3 verifies before and after it was sealed, and is sealed only once [S1-43]', async () => {
    for (const version of [1, 2, 3] as const) {
      const folder = join(root, `version-${version}`);
      const first = openIn(folder);
      await keyed(first, 'answered');
      await first.claim(claimOf('running'), [sampleIntent('running')]);
      await first.close();
      makeLegacy(folder, version);
      assert.equal(verdict(folder), 'ok');
      const second = openIn(folder);
      assert.equal([...second.read({ kind: 'rotation' })].length, 1);
      assert.deepEqual((await second.lookup(SCOPE, 'answered', 'h')).state, 'done');
      await second.close();
      assert.equal(verdict(folder), 'ok');
      editDatabase(folder, `UPDATE key_claim SET answer = '1', mac = NULL; PRAGMA user_version = ${version}`);
      const third = openIn(folder);
      assert.throws(() => third.lookup(SCOPE, 'answered', 'h'), /changed outside the runtime/);
      assert.equal([...third.read({ kind: 'rotation' })].length, 1);
      await third.close();
      assert.match(verdict(folder), /^claims: the claim of call /);
    }
  });
});

describe('reading', () => {
  test('creates and changes nothing, whatever lies in the folder', async () => {
    const live = copyOf(original);
    const store = openIn(live);
    await keyed(store, 'live');
    const killed = copyOf(live);
    const withoutIndex = copyOf(live);
    rmSync(join(withoutIndex, 'journal.db-shm'));
    const older = copyOf(original);
    editDatabase(older, 'PRAGMA user_version = 3');
    const [head, early] = [store.head().seq, headOf(original)];
    for (const [folder, seq] of [
      [live, head],
      [killed, head],
      [withoutIndex, head],
      [older, early],
    ] as const) {
      const before = filesOf(folder);
      assert.equal(verdict(folder), 'ok');
      assert.equal(headOf(folder), seq);
      assert.deepEqual(filesOf(folder), before);
    }
    await store.close();
    const empty = join(root, 'empty');
    mkdirSync(empty);
    assert.match(verdict(empty), /^There is no journal in this folder: /);
    assert.match(verdict(join(root, 'nowhere')), /^There is no state folder: /);
    assert.deepEqual(readdirSync(empty), []);
  });

  test('follows a journal that is written and closed under it', async () => {
    const folder = copyOf(original);
    const reader = openJournalReader(folder);
    let seen = reader.head().seq;
    for (let round = 0; round < 5; round++) {
      const store = openIn(folder);
      await store.append([sampleIntent(`r${round}`), sampleResult(`r${round}`)]);
      assert.equal(reader.head().seq, seen + 2);
      await store.close();
      assert.equal(reader.verify().ok, true);
      const { seq } = reader.head();
      assert.equal([...reader.records({ after: seen })].length, seq - seen);
      seen = seq;
    }
    reader.close();
  });

  test('looks again when a journal is written and closed between two looks of one check', async () => {
    const folder = copyOf(original);
    const reader = openJournalReader(folder);
    let writing: JournalStore | undefined;
    const options = {
      get archives() {
        if (writing !== undefined) return true;
        writing = openIn(folder);
        void writing.claim(claimOf('meanwhile'), [sampleIntent('meanwhile')]);
        void writing.close();
        return true;
      },
    };
    const { broken, head } = reader.verify(undefined, options);
    assert.deepEqual([broken, head.seq], [undefined, headOf(folder)]);
    reader.close();
  });
});

function headOf(folder: string): number {
  const reader = openJournalReader(folder);
  try {
    return reader.head().seq;
  } finally {
    reader.close();
  }
}

/** Names and contents; the index of the log is shared memory of those who have it open. */
function filesOf(folder: string): Readonly<Record<string, string>> {
  const names = filesIn(folder);
  return Object.fromEntries(
    names.map((name) => [name, name.endsWith('-shm') ? '' : readFileSync(join(folder, name), 'hex')]),
  );
}

function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}
