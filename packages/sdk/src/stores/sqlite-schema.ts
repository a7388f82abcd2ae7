/** The tables of `journal.db`, and how a connection to it is set up. */
import { DatabaseSync } from 'node:sqlite';
import { failure } from '../contracts/failures.ts';
import { isBusy, pauseBriefly } from './sqlite-failure.ts';

const VERSION = 3;

/** Every commit writes whole pages: small ones copy less, and the records of one call still fit into one. */
export const PAGE_BYTES = 4096;

/** Pages the write-ahead log may hold before they move into the database, which is when the disk is waited for. */
const CHECKPOINT_PAGES = 8192;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS block (
    first_seq INTEGER PRIMARY KEY, count INTEGER NOT NULL, at_ms INTEGER NOT NULL, body TEXT NOT NULL, mac BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS key_claim (
    scope TEXT NOT NULL, key TEXT NOT NULL, args_hash TEXT NOT NULL, call_id TEXT NOT NULL,
    state TEXT NOT NULL, answer TEXT, settled_at INTEGER, instance TEXT, rehearsal TEXT, PRIMARY KEY (scope, key)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS pending_key ON key_claim (call_id) WHERE state = 'pending';
  CREATE TABLE IF NOT EXISTS instance (
    id TEXT PRIMARY KEY, pid INTEGER NOT NULL, birth TEXT NOT NULL, retired_at INTEGER);
  CREATE INDEX IF NOT EXISTS live_instance ON instance (id) WHERE retired_at IS NULL;
  CREATE TABLE IF NOT EXISTS mark (name TEXT PRIMARY KEY, seq INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS archive (
    through INTEGER PRIMARY KEY, first_seq INTEGER NOT NULL, mac BLOB NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL, newest_at_ms INTEGER NOT NULL, head_seq INTEGER NOT NULL,
    content_seq INTEGER NOT NULL, pruned_at INTEGER, seal BLOB NOT NULL);
  PRAGMA user_version = ${VERSION};`;

/** Version 1 did not note when a key got its answer: those answers count as given at the change. */
const ADD_SETTLED_AT = `
  ALTER TABLE key_claim ADD COLUMN settled_at INTEGER;
  UPDATE key_claim SET settled_at = unixepoch() * 1000 WHERE state = 'done';`;

/** Version 2 did not note who claimed a key and what the call was about to change: such calls cannot be compared. */
const ADD_REHEARSAL = `
  ALTER TABLE key_claim ADD COLUMN instance TEXT;
  ALTER TABLE key_claim ADD COLUMN rehearsal TEXT;`;

export interface ConnectionOptions {
  readonly path: string;
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

function setUp(database: DatabaseSync, { durability, maxBytes }: ConnectionOptions): void {
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
  migrate(database);
}

function migrate(database: DatabaseSync): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (found === VERSION) return;
  if (found > VERSION) {
    throw failure('host_configuration_needed', 'host_configuration_needed', 'Journal was written by a newer version', {
      details: { found, known: VERSION, next: 'update, or use another state folder' },
    });
  }
  // Several processes may open a folder at once: every statement tolerates having been run already.
  database.exec('BEGIN IMMEDIATE');
  try {
    if (lacksColumn(database, 'settled_at')) database.exec(ADD_SETTLED_AT);
    if (lacksColumn(database, 'rehearsal')) database.exec(ADD_REHEARSAL);
    database.exec(`${SCHEMA} COMMIT;`);
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}

/** False for a table that does not exist yet. */
function lacksColumn(database: DatabaseSync, column: string): boolean {
  const columns = database.prepare("SELECT name FROM pragma_table_info('key_claim')").all();
  return columns.length > 0 && !columns.some(({ name }) => name === column);
}
