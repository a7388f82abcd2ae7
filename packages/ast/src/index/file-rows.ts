/** Files as rows of the database. */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { SkipReason } from '../contracts/code-index-contract.ts';
import type { Stamp } from './file-card.ts';

export interface StoredFile {
  readonly path: string;
  readonly language: string;
  readonly parser: string;
  readonly sha256: string;
  readonly stamp: Stamp;
  readonly skip: SkipReason | undefined;
  readonly crc: number;
  readonly columns: Uint8Array;
}

export interface FileWrite extends StoredFile {
  readonly facts: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
const ROW = 'path, language, parser, sha256, size, mtime_ms, identity, skip, crc, columns_crc, columns';

export function prepareRows(database: DatabaseSync) {
  return {
    page: database.prepare(`SELECT ${ROW} FROM file WHERE path > ? ORDER BY path LIMIT ?`),
    find: database.prepare(`SELECT ${ROW} FROM file WHERE path = ?`),
    facts: database.prepare('SELECT facts FROM file WHERE path = ?'),
    put: database.prepare(`INSERT OR REPLACE INTO file (${ROW}, facts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    remove: database.prepare('DELETE FROM file WHERE path = ?'),
    touch: database.prepare('UPDATE file SET size = ?, mtime_ms = ?, identity = ? WHERE path = ?'),
    setting: database.prepare('SELECT value FROM meta WHERE key = ?'),
    setSetting: database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)'),
  };
}

export function writeRow(statement: StatementSync, row: FileWrite): void {
  const { stamp, columns } = row;
  // An unsettled stamp is stored as one no file has, so that the next process looks at the content.
  const mtimeMs = stamp.settled ? stamp.mtimeMs : -1;
  statement.run(
    ...[row.path, row.language, row.parser, row.sha256, stamp.size, mtimeMs, stamp.identity, row.skip ?? null],
    ...[row.crc, crc32(columns), columns, row.facts],
  );
}

/** Undefined for a row that fails its checksum. */
export function storedFile(row: Record<string, SQLOutputValue>): StoredFile | undefined {
  const columns = row['columns'] instanceof Uint8Array ? row['columns'] : NO_BYTES;
  if (crc32(columns) !== row['columns_crc']) return undefined;
  return {
    path: String(row['path']),
    language: String(row['language']),
    parser: String(row['parser']),
    sha256: String(row['sha256']),
    stamp: {
      size: Number(row['size']),
      mtimeMs: Number(row['mtime_ms']),
      identity: String(row['identity']),
      settled: true,
    },
    skip: row['skip'] === null ? undefined : (String(row['skip']) as SkipReason),
    crc: Number(row['crc']),
    columns,
  };
}
