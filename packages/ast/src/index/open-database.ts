/**
 * Opens the database of the index. Everything in it can be made again from the files, so a damaged one is removed, and
 * where none can be had (locked, no space, no folder) the same tables live in memory.
 */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LAYOUT_VERSION } from './facts-layout.ts';

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  readonly storage: 'disk' | 'memory';
  readonly note?: string;
}

const FILE = 'ast.db';
/** Waiting blocks the thread, so others are given no more than what their short transactions need. */
const BUSY_MS = 100;
const BUSY_CODES = [5, 6];
const DAMAGED_CODES = [11, 26];
/** No fsync: after a power loss checksums tell damaged rows from good ones. */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  PRAGMA wal_autocheckpoint = 256;
  PRAGMA cache_size = -8192;`;
const TABLES = `
  CREATE TABLE IF NOT EXISTS file (
    path TEXT PRIMARY KEY, language TEXT NOT NULL, parser TEXT NOT NULL, sha256 TEXT NOT NULL,
    size INTEGER NOT NULL, mtime_ms REAL NOT NULL, identity TEXT NOT NULL, skip TEXT,
    crc INTEGER NOT NULL, columns_crc INTEGER NOT NULL, columns BLOB, facts BLOB);
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;`;

export function openDatabase(folder: string | undefined): OpenedDatabase {
  if (folder === undefined) return inMemory();
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { database: connect(folder), storage: 'disk' };
  } catch (thrown) {
    return isDamage(thrown) ? rebuilt(folder) : inMemory(reasonOf(thrown));
  }
}

/** Removes the damaged file and begins anew. */
export function rebuilt(folder: string | undefined): OpenedDatabase {
  if (folder === undefined) return inMemory();
  try {
    for (const end of ['', '-wal', '-shm']) rmSync(path.join(folder, FILE + end), { force: true });
    return { database: connect(folder), storage: 'disk', note: 'The stored index was damaged and is built anew' };
  } catch (thrown) {
    return inMemory(reasonOf(thrown));
  }
}

/** True for a file that is no database, or no sound one. */
export function isDamage(thrown: unknown): boolean {
  return DAMAGED_CODES.includes(resultCode(thrown));
}

function connect(folder: string): DatabaseSync {
  const database = new DatabaseSync(path.join(folder, FILE), { timeout: BUSY_MS });
  try {
    database.exec(SETTINGS);
    prepareTables(database);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function inMemory(note?: string): OpenedDatabase {
  const database = new DatabaseSync(':memory:');
  prepareTables(database);
  return { database, storage: 'memory', ...(note === undefined ? {} : { note }) };
}

/** Tables of another version are dropped: what they mean is unknown. */
function prepareTables(database: DatabaseSync): void {
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
  if (version !== LAYOUT_VERSION) {
    database.exec(`BEGIN IMMEDIATE; DROP TABLE IF EXISTS file; DROP TABLE IF EXISTS meta; ${TABLES}
      PRAGMA user_version = ${LAYOUT_VERSION}; COMMIT`);
  }
}

function reasonOf(thrown: unknown): string {
  if (BUSY_CODES.includes(resultCode(thrown))) return 'The stored index is locked by another program; kept in memory';
  return 'The state folder cannot be used for the index; kept in memory';
}

/** The primary result code of SQLite; 0 for other errors. */
function resultCode(thrown: unknown): number {
  const code = (thrown as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : 0;
}
