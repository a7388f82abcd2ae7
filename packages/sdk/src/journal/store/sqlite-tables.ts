/** The rows of a journal in SQLite. Every statement is prepared once; MACs are bytes on disk and hex outside. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ArchiveRow, BlockRow, InstanceRow, JournalTables, KeyName, KeyRow } from './journal-tables.ts';
import { isBusy, journalFailure, pauseBriefly } from './sqlite-failure.ts';

const READ_TRIES = 20;

/** Every column by the name it has here, whatever the schema of the file makes of it. */
function select(table: string, columns: readonly string[], macs: readonly string[]): string {
  const named = [
    ...columns.map((column) => `${column} AS ${column}`),
    ...macs.map((column) => `lower(hex(${column})) AS ${column}`),
  ];
  return `SELECT ${named.join(', ')} FROM ${table}`;
}

const BLOCK = select('block', ['first_seq', 'count', 'at_ms', 'claims', 'body'], ['mac']);
const KEY = select(
  'key_claim',
  ['scope', 'key', 'args_hash', 'call_id', 'state', 'answer', 'settled_at', 'instance', 'rehearsal'],
  ['mac'],
);
const INSTANCE = select('instance', ['id', 'pid', 'birth', 'retired_at'], ['mac']);
const ARCHIVE = select(
  'archive',
  ['through', 'first_seq', 'name', 'sha256', 'bytes', 'newest_at_ms', 'head_seq', 'content_seq', 'pruned_at'],
  ['mac', 'seal'],
);

export function createSqliteTables(database: DatabaseSync): JournalTables {
  const { insertBlock, ...blocks } = blockTable(database);
  const others = {
    ...blocks,
    ...archiveTable(database),
    ...keyTable(database),
    ...instanceTable(database),
    ...connection(database),
  };
  const place = new ReadersPlace(database);
  return { ...leavingFirst(others, place), insertBlock: (row) => place.insert(() => insertBlock(row)) };
}

/** What is asked or done next has to see what other processes wrote. */
function leavingFirst<Methods extends object>(methods: Methods, place: ReadersPlace): Methods {
  const entries = Object.entries(methods).map(([name, method]) => [
    name,
    (...args: readonly unknown[]) => {
      place.leave();
      return method(...args);
    },
  ]);
  return Object.fromEntries(entries) as Methods;
}

/** Commits from one place; in the one after them the log can move into the database, which needs the place to be free. */
const HELD_COMMITS = 256;
/** A place that is held keeps others from shortening the log. */
const HELD_MS = 100;
/** Commits without a place after another process wrote: it will write again. */
const SHARED_COMMITS = 64;

/**
 * The place of this connection among the readers of the log. SQLite takes one for every commit and gives it back, which
 * is four of the six locks of a commit. A statement that is not at its end keeps it, so commits that follow each other
 * take it once. SQLite refuses to write from a place that another process has written past; then it is taken anew.
 */
class ReadersPlace {
  readonly #database: DatabaseSync;
  readonly #rows: StatementSync;
  #held: Iterator<unknown> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #commits = 0;
  #shared = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#rows = database.prepare('SELECT name FROM sqlite_schema');
  }

  insert(write: () => boolean): boolean {
    if (this.#database.isTransaction) return write();
    this.#commits += 1;
    if (this.#shared > 0) this.#shared -= 1;
    else if (this.#commits % HELD_COMMITS === 0) this.leave();
    else if (this.#held === undefined) this.#enter();
    try {
      return write();
    } catch (thrown) {
      if (this.#held === undefined || !isBusy(thrown)) throw thrown;
      this.leave();
      this.#shared = SHARED_COMMITS;
      return write();
    }
  }

  #enter(): void {
    this.#held = reading(() => {
      const rows = this.#rows.iterate();
      rows.next();
      return rows;
    });
    this.#timer ??= setTimeout(() => this.leave(), HELD_MS).unref();
  }

  leave(): void {
    if (this.#held === undefined) return;
    this.#held.return?.();
    this.#held = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function blockTable(
  database: DatabaseSync,
): Pick<
  JournalTables,
  | 'lastBlock'
  | 'insertBlock'
  | 'blockAt'
  | 'blocksAfter'
  | 'deleteBlocks'
  | 'lastTotal'
  | 'birth'
  | 'checkpointSeq'
  | 'markCheckpoint'
> {
  // No count where a block stands behind: the row is then ignored as one at a taken place is. Costs less than a WHERE.
  const insert = database.prepare(`INSERT OR IGNORE INTO block
    (first_seq, count, at_ms, body, mac, claims)
    VALUES (?1, iif(EXISTS (SELECT 1 FROM block WHERE first_seq > ?1), NULL, ?2), ?3, ?4, unhex(?5), ?6)`);
  const last = database.prepare(`${BLOCK} ORDER BY first_seq DESC LIMIT 1`);
  const at = database.prepare(`${BLOCK} WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1`);
  const after = database.prepare(`${BLOCK} WHERE first_seq > ? ORDER BY first_seq LIMIT ?`);
  const remove = database.prepare('DELETE FROM block WHERE first_seq <= ?');
  const total = database.prepare(
    // As text: a place that no number can hold is for verify to name.
    'SELECT CAST(first_seq AS TEXT) AS place, claims FROM block WHERE claims IS NOT NULL ORDER BY first_seq DESC LIMIT 1',
  );
  const birth = database.prepare('SELECT lower(hex(mac)) AS mac FROM birth');
  const mark = database.prepare("SELECT seq FROM mark WHERE name = 'checkpoint'");
  const setMark = database.prepare("INSERT OR REPLACE INTO mark VALUES ('checkpoint', ?)");
  return {
    lastBlock: () => reading(() => last.get() as BlockRow | undefined),
    insertBlock: ({ first_seq, count, at_ms, body, mac, claims = null }) =>
      guarded(() => insert.run(first_seq, count, at_ms, body, mac, claims).changes === 1),
    blockAt: (seq) => reading(() => at.get(seq) as BlockRow | undefined),
    blocksAfter: (firstSeq, limit) => reading(() => after.all(firstSeq, limit) as unknown as BlockRow[]),
    deleteBlocks: (through) => guarded(() => void remove.run(through)),
    lastTotal: () =>
      reading(() => {
        const row = total.get();
        return row === undefined ? undefined : { first_seq: Number(row['place']), claims: String(row['claims']) };
      }),
    birth: () => reading(() => birth.get()?.['mac'] as string | undefined),
    checkpointSeq: () => reading(() => Number(mark.get()?.['seq'] ?? 0)),
    markCheckpoint: (seq) => guarded(() => void setMark.run(seq)),
  };
}

function archiveTable(database: DatabaseSync): Pick<JournalTables, 'archives' | 'lastArchive' | 'putArchive'> {
  const all = database.prepare(`${ARCHIVE} ORDER BY through`);
  const last = database.prepare(`${ARCHIVE} ORDER BY through DESC LIMIT 1`);
  const put = database.prepare(`INSERT OR REPLACE INTO archive VALUES
    (:through, :first_seq, unhex(:mac), :name, :sha256, :bytes, :newest_at_ms, :head_seq, :content_seq, :pruned_at,
    unhex(:seal))`);
  return {
    archives: () => reading(() => all.all() as unknown as ArchiveRow[]),
    lastArchive: () => reading(() => last.get() as unknown as ArchiveRow | undefined),
    putArchive: (row) => guarded(() => void put.run({ ...row })),
  };
}

function keyTable(
  database: DatabaseSync,
): Pick<JournalTables, 'findKey' | 'putKey' | 'deleteKey' | 'pendingKeys' | 'keys' | 'settledKeys'> {
  const find = database.prepare(`${KEY} WHERE scope = ? AND key = ?`);
  const put = database.prepare(`INSERT OR REPLACE INTO key_claim
    (scope, key, args_hash, call_id, state, answer, settled_at, instance, rehearsal, mac) VALUES
    (:scope, :key, :args_hash, :call_id, :state, :answer, :settled_at, :instance, :rehearsal, unhex(:mac))`);
  const remove = database.prepare('DELETE FROM key_claim WHERE scope = ? AND key = ?');
  const pending = database.prepare(`${KEY} WHERE call_id = ? AND state = 'pending' ORDER BY scope, key`);
  const all = database.prepare(KEY);
  const settled = database.prepare(`SELECT scope, key FROM key_claim
    WHERE state = 'done' AND substr(scope, 1, length(?1)) = ?1 AND settled_at < ?2 LIMIT ?3`);
  return {
    findKey: (scope, key) => reading(() => find.get(scope, key) as unknown as KeyRow | undefined),
    putKey: (row) => guarded(() => void put.run({ ...row })),
    deleteKey: (scope, key) => guarded(() => void remove.run(scope, key)),
    pendingKeys: (callId) => reading(() => pending.all(callId) as unknown as KeyRow[]),
    keys: () => reading(() => all.iterate() as unknown as Iterable<KeyRow>),
    settledKeys: (scopePrefix, before, limit) =>
      reading(() => settled.all(scopePrefix, before, limit) as unknown as KeyName[]),
  };
}

function instanceTable(
  database: DatabaseSync,
): Pick<JournalTables, 'putInstance' | 'findInstance' | 'instances' | 'deleteRetired'> {
  const put = database.prepare('INSERT OR REPLACE INTO instance VALUES (:id, :pid, :birth, :retired_at, unhex(:mac))');
  const find = database.prepare(`${INSTANCE} WHERE id = ?`);
  const all = database.prepare(`${INSTANCE} ORDER BY id`);
  const remove = database.prepare(`DELETE FROM instance WHERE retired_at IS NOT NULL
    AND id NOT IN (SELECT value FROM json_each(?))
    AND id NOT IN (SELECT instance FROM key_claim WHERE state = 'pending' AND instance IS NOT NULL)`);
  return {
    putInstance: (row) => guarded(() => void put.run({ ...row })),
    findInstance: (id) => reading(() => find.get(id) as unknown as InstanceRow | undefined),
    instances: () => reading(() => all.all() as unknown as InstanceRow[]),
    deleteRetired: (except) => guarded(() => Number(remove.run(JSON.stringify(except)).changes)),
  };
}

function connection(database: DatabaseSync): Pick<JournalTables, 'transaction' | 'snapshot' | 'damage' | 'close'> {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  return {
    transaction(work) {
      guarded(() => begin.run());
      try {
        const result = work();
        guarded(() => commit.run());
        return result;
      } catch (thrown) {
        // A full disk may already have ended the transaction.
        if (database.isTransaction) guarded(() => rollback.run());
        throw thrown;
      }
    },
    snapshot(work) {
      if (database.isTransaction) return work();
      guarded(() => database.exec('BEGIN'));
      try {
        return work();
      } finally {
        if (database.isTransaction) guarded(() => rollback.run());
      }
    },
    damage() {
      const found = guarded(() => database.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check']);
      return found === 'ok' ? undefined : String(found);
    },
    close: () => guarded(() => database.close()),
  };
}

/** In the write-ahead log a reader waits only for a process that repairs it after a crash, which takes moments. */
function reading<T>(work: () => T): T {
  for (let tries = READ_TRIES; ; tries--) {
    try {
      return work();
    } catch (thrown) {
      if (tries === 0 || !isBusy(thrown)) throw journalFailure(thrown);
      pauseBriefly();
    }
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw journalFailure(thrown);
  }
}
