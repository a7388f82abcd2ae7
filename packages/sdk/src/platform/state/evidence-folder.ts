/**
 * A state folder that is only read: nothing in it is created or changed, so that the journal of a full disk, of read-only
 * media or of another user can be checked.
 *
 * SQLite cannot always open a database with a write-ahead log without creating files beside it. Which way is free of that
 * depends on what lies there:
 *
 * | log | index of the log (`-shm`) | how it is read |
 * |---|---|---|
 * | there | there | with the processes that write it, through that index |
 * | none, or empty without an index | any | as a file that does not change; when it does, it is opened again |
 * | not empty | not there | from a copy in the folder for temporary files |
 *
 * Where the index cannot be used, as on read-only media, the copy is what is left.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { failure } from '../../contracts/failures.ts';
import { inState } from '../descriptors/state-safety.ts';
import { checkEvidence, openEvidence, refuseLink } from './state-file.ts';
import { KEY_BYTES, KEY_FILE, SEALED_FILE } from './state-folder.ts';

export interface EvidenceFolder {
  readonly path: string;
  readonly key: Buffer;
  /** Opens a file of the folder for reading, regardless of its owner. */
  open(path: string): number;
  /** How the database can be read as it lies there. */
  view(): DatabaseView;
  /** A copy with its log, which may be changed. */
  copy(): DatabaseView;
}

export interface DatabaseView {
  readonly kind: 'shared' | 'unchanging' | 'copy';
  readonly location: URL;
  /** True once the file was changed in a way that an open connection does not see. */
  isStale(): boolean;
  /** Call when its connection is closed. */
  dispose(): void;
}

/** Throws ToolError for a folder that holds no journal, and says what is missing. */
export function openEvidenceFolder(path: string): EvidenceFolder {
  const folder = resolve(path);
  const found = inState(() => statSync(folder, { throwIfNoEntry: false }));
  if (found?.isDirectory() !== true) {
    throw noJournal(
      `There is no state folder: ${path}`,
      'check --state and --workspace; a workspace gets its state folder with the first call',
    );
  }
  const database = join(folder, SEALED_FILE);
  checkFiles(folder, path);
  const key = inState(() => readEvidence(join(folder, KEY_FILE)));
  if (key.length !== KEY_BYTES) throw noJournal(`journal.key has the wrong length: ${path}`, 'restore journal.key');
  return { path: folder, key, open: openEvidence, view: () => viewOf(database), copy: () => copyOf(database) };
}

function checkFiles(folder: string, named: string): void {
  const sizes = [KEY_FILE, SEALED_FILE].map((name) => sizeOf(join(folder, name)));
  const [key, database] = sizes;
  if (key === undefined && database === undefined)
    throw noJournal(`There is no journal in this folder: ${named}`, 'check --state and --workspace');
  if (key === undefined)
    throw noJournal(`journal.key is missing: ${named}`, 'restore journal.key; without it nothing can be verified');
  if (database === undefined)
    throw noJournal(`journal.db is missing: ${named}`, 'its key is there, so there was a journal: restore it');
  if (database === 0) throw noJournal(`journal.db is empty: ${named}`, 'restore it from a backup');
}

function viewOf(database: string): DatabaseView {
  return inState(() => {
    checkEvidence(database);
    for (const suffix of ['-wal', '-shm']) refuseLink(`${database}${suffix}`);
    const location = pathToFileURL(database);
    const nothing = (): void => {};
    const log = sizeOf(`${database}-wal`);
    if (log !== undefined && sizeOf(`${database}-shm`) !== undefined)
      return { kind: 'shared', location, isStale: () => false, dispose: nothing };
    if ((log ?? 0) > 0) return copyOf(database);
    location.searchParams.set('immutable', '1');
    const stamp = stampOf(database);
    return { kind: 'unchanging', location, isStale: () => stampOf(database) !== stamp, dispose: nothing };
  });
}

const COPY_TRIES = 5;

function copyOf(database: string): DatabaseView {
  return inState(() => {
    const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-journal-'));
    const copy = join(folder, SEALED_FILE);
    const dispose = (): void => rmSync(folder, { recursive: true, force: true });
    try {
      for (let tries = 1; tries <= COPY_TRIES; tries++) {
        const stamp = stampOf(database);
        for (const suffix of ['', '-wal']) copyIfThere(`${database}${suffix}`, `${copy}${suffix}`);
        const isStale = (): boolean => stampOf(database) !== stamp;
        if (!isStale()) return { kind: 'copy', location: pathToFileURL(copy), isStale, dispose };
      }
    } catch (thrown) {
      dispose();
      throw thrown;
    }
    dispose();
    throw noJournal('The journal changes while it is copied', 'try again when no process writes it');
  });
}

function copyIfThere(from: string, to: string): void {
  rmSync(to, { force: true });
  if (sizeOf(from) === undefined) return;
  copyFileSync(from, to);
  chmodSync(to, 0o600);
}

/** Changes whenever a process writes to the database or starts to. */
function stampOf(database: string): string {
  const parts = ['', '-wal', '-shm'].map((suffix) => {
    const stat = lstatSync(`${database}${suffix}`, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
  });
  return parts.join(' ');
}

function sizeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.size;
}

function readEvidence(path: string): Buffer {
  const file = openEvidence(path);
  try {
    return fstatSync(file).size > KEY_BYTES ? Buffer.alloc(0) : readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function noJournal(message: string, next: string): Error {
  return failure('journal_failure', 'repair_needed', message, {
    details: { gate: 'state', reason: 'no_journal', next },
  });
}
