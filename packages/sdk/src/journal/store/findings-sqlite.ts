/**
 * What rules found, by content, in a file of its own beside the journal. Nothing of it is a record: a damaged or missing file
 * is begun anew, and a write that fails only costs the work a second time.
 */
import { DatabaseSync } from 'node:sqlite';
import type { OpenFindingCache } from '../../contracts/rule.ts';
import type { StateFolder } from '../../platform/state/state-folder.ts';
import { isBusy } from './sqlite-failure.ts';

const FILE = 'findings.db';
const MAX_ROWS = 100_000;
const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  CREATE TABLE IF NOT EXISTS finding (key TEXT PRIMARY KEY, value TEXT NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS finding_age ON finding (seq);`;

/** Opened with the first look. */
export function createSqliteFindings(state: StateFolder): OpenFindingCache {
  let open: ReturnType<typeof openTable> | undefined;
  const table = () => {
    open ??= openTable(state);
    return open;
  };
  return {
    get: (key) => quietly(() => table().get(key)),
    set: (key, value) => quietly(() => table().set(key, value)),
    close: () => open?.close(),
  };
}

function quietly<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    // Locked, full or damaged: the answer is worked out again.
    return undefined;
  }
}

function openTable(state: StateFolder) {
  const database = openDatabase(state);
  const find = database.prepare('SELECT value FROM finding WHERE key = ?');
  const put = database.prepare('INSERT OR REPLACE INTO finding VALUES (?, ?, ?)');
  const count = database.prepare('SELECT count(*) AS rows, max(seq) AS newest FROM finding');
  const prune = database.prepare('DELETE FROM finding WHERE seq <= ?');
  const { rows, newest } = count.get() as { rows: number; newest: number | null };
  let seq = newest ?? 0;
  if (rows > MAX_ROWS) prune.run(seq - MAX_ROWS / 2);
  return {
    get: (key: string) => find.get(key)?.['value'] as string | undefined,
    set: (key: string, value: string) => void put.run(key, value, ++seq),
    close: () => database.close(),
  };
}

function openDatabase(state: StateFolder): DatabaseSync {
  try {
    return connect(state);
  } catch (thrown) {
    // In use by another process, which would lose what it has just written.
    if (isBusy(thrown)) throw thrown;
    // Not a database, or another version of one: nothing in it is worth keeping.
    state.writeText(FILE, '');
    return connect(state);
  }
}

function connect(state: StateFolder): DatabaseSync {
  const database = new DatabaseSync(state.file(FILE), { timeout: 0 });
  try {
    database.exec(SCHEMA);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}
