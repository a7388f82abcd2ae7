/** The tables of `journal.db`, and how a connection to it is set up. */
import { DatabaseSync } from 'node:sqlite';
import { failure } from '../../contracts/failures.ts';
import { isBusy, pauseBriefly } from './sqlite-failure.ts';

/** Since version 5 a call that only read is one line of a block. */
const VERSION = 5;

/** Every commit writes whole pages: small ones copy less, and the records of one call still fit into one. */
export const PAGE_BYTES = 4096;

/** Pages the write-ahead log may hold before they move into the database, which is when the disk is waited for. */
const CHECKPOINT_PAGES = 8192;

/** Keys of an older journal stand in one tree with their answers (`WITHOUT ROWID`), which is deep; it works the same. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS block (
    first_seq INTEGER PRIMARY KEY, count INTEGER NOT NULL, at_ms INTEGER NOT NULL, body TEXT NOT NULL, mac BLOB NOT NULL,
    claims TEXT);
  CREATE INDEX IF NOT EXISTS block_total ON block (first_seq) WHERE claims IS NOT NULL;
  CREATE TABLE IF NOT EXISTS key_claim (
    scope TEXT NOT NULL, key TEXT NOT NULL, args_hash TEXT NOT NULL, call_id TEXT NOT NULL,
    state TEXT NOT NULL, answer TEXT, settled_at INTEGER, instance TEXT, rehearsal TEXT, mac BLOB,
    PRIMARY KEY (scope, key));
  CREATE INDEX IF NOT EXISTS pending_key ON key_claim (call_id) WHERE state = 'pending';
  CREATE TABLE IF NOT EXISTS instance (
    id TEXT PRIMARY KEY, pid INTEGER NOT NULL, birth TEXT NOT NULL, retired_at INTEGER, mac BLOB);
  DROP INDEX IF EXISTS live_instance;
  CREATE TABLE IF NOT EXISTS mark (name TEXT PRIMARY KEY, seq INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS archive (
    through INTEGER PRIMARY KEY, first_seq INTEGER NOT NULL, mac BLOB NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL, newest_at_ms INTEGER NOT NULL, head_seq INTEGER NOT NULL,
    content_seq INTEGER NOT NULL, pruned_at INTEGER, seal BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS birth (mac BLOB NOT NULL);
  CREATE TRIGGER IF NOT EXISTS first_block AFTER INSERT ON block WHEN NEW.first_seq = 1 BEGIN DELETE FROM birth; END;
  PRAGMA user_version = ${VERSION};`;

/** Nothing was ever recorded: the journal is made here, or was made by a version that did not say so. */
const BEAR = `INSERT INTO birth SELECT unhex(?) WHERE NOT EXISTS (SELECT 1 FROM birth)
  AND NOT EXISTS (SELECT 1 FROM block) AND NOT EXISTS (SELECT 1 FROM archive) AND NOT EXISTS (SELECT 1 FROM key_claim)`;

/** Version 1 did not note when a key got its answer: those answers count as given at the change. */
const ADD_SETTLED_AT = `
  ALTER TABLE key_claim ADD COLUMN settled_at INTEGER;
  UPDATE key_claim SET settled_at = unixepoch() * 1000 WHERE state = 'done';`;

/** Version 2 did not note who claimed a key and what the call was about to change: such calls cannot be compared. */
const ADD_REHEARSAL = `
  ALTER TABLE key_claim ADD COLUMN instance TEXT;
  ALTER TABLE key_claim ADD COLUMN rehearsal TEXT;`;

/** Version 3 sealed neither claims nor processes. The rows are sealed when the journal opens (`seal-legacy.ts`). */
const ADD_SEALS: Readonly<Record<string, string>> = {
  block: 'ALTER TABLE block ADD COLUMN claims TEXT;',
  key_claim: 'ALTER TABLE key_claim ADD COLUMN mac BLOB;',
  instance: 'ALTER TABLE instance ADD COLUMN mac BLOB;',
};

export interface ConnectionOptions {
  readonly path: string | URL;
  /** The mark of a journal that never held a record. */
  readonly birthMark: string;
  readonly durability: 'normal' | 'full';
  /** How long to wait for another process, with the event loop standing still. */
  readonly waitMs: number;
  readonly maxBytes?: number | undefined;
}

/**
 * Of several processes that open a new file at once, SQLite tells some that it is busy without waiting at all: each holds
 * what another needs to change the mode. A process that steps back and asks again finds it changed.
 */
export function connect(options: ConnectionOptions): DatabaseSync {
  const started = performance.now();
  for (;;) {
    try {
      return tryConnect(options);
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() - started >= options.waitMs) throw thrown;
      pauseBriefly();
    }
  }
}

/** SQLite itself never waits for a lock: that would stop the event loop, and with it every other call of the process. */
function tryConnect(options: ConnectionOptions): DatabaseSync {
  const database = new DatabaseSync(options.path, { timeout: 0 });
  try {
    setUp(database, options);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function setUp(database: DatabaseSync, { durability, maxBytes, birthMark }: ConnectionOptions): void {
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode !== 'wal') {
    throw failure('host_configuration_needed', 'host_configuration_needed', 'State folder cannot hold a journal', {
      details: { reason: 'no_wal', next: 'use a state folder on a local disk' },
    });
  }
  database.exec(`
    PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA trusted_schema = OFF;
    PRAGMA temp_store = MEMORY;`);
  if (maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_BYTES)}`);
  migrate(database, birthMark);
}

function migrate(database: DatabaseSync, birthMark: string): void {
  if (isCurrent(database)) return;
  // Several processes may open a folder at once: every statement tolerates having been run already.
  database.exec('BEGIN IMMEDIATE');
  try {
    if (lacksColumn(database, 'key_claim', 'settled_at')) database.exec(ADD_SETTLED_AT);
    if (lacksColumn(database, 'key_claim', 'rehearsal')) database.exec(ADD_REHEARSAL);
    for (const [table, change] of Object.entries(ADD_SEALS))
      if (lacksColumn(database, table, table === 'block' ? 'claims' : 'mac')) database.exec(change);
    database.exec(SCHEMA);
    database.prepare(BEAR).run(birthMark);
    database.exec('DELETE FROM instance WHERE EXISTS (SELECT 1 FROM birth)');
    database.exec('COMMIT');
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

/** False for an older version, or for no journal yet. Throws ToolError for a newer one. */
export function isCurrent(database: DatabaseSync): boolean {
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (found <= VERSION) return found === VERSION;
  throw failure('host_configuration_needed', 'host_configuration_needed', 'Journal was written by a newer version', {
    details: { found, known: VERSION, next: 'update, or use another state folder' },
  });
}

/** False for a table that does not exist yet. */
function lacksColumn(database: DatabaseSync, table: string, column: string): boolean {
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(table);
  return columns.length > 0 && !columns.some(({ name }) => name === column);
}
