/**
 * A lock between processes of one user, held as long as wanted.
 *
 * Node has no file locks of its own, but SQLite takes one for a transaction, and the kernel drops it with the process:
 * there are no stale ones, and unlike a process number it is seen across containers. The file is empty and stays,
 * because removing it would let two processes hold locks of two files of the same name.
 */
import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { errnoCode } from './private-file.ts';

export interface HeldLock {
  release(): void;
}

/** The low byte of a result code; the rest only says why. */
const SQLITE_BUSY = 5;

/** Undefined when another process, or another part of this one, still has it after `waitMs`. Blocks while it waits. */
export function holdLock(path: string, { waitMs = 0 }: { readonly waitMs?: number } = {}): HeldLock | undefined {
  try {
    createMissing(path);
    const sqlite = process.getBuiltinModule('node:sqlite');
    const database = new sqlite.DatabaseSync(path, { timeout: waitMs });
    if (!begin(database)) return undefined;
    return { release: () => database.close() };
  } catch (thrown) {
    if (isToolError(thrown)) throw thrown;
    throw new ToolError('E_FILE_IO', `File cannot be locked: ${path}`, {
      path,
      details: { next: 'name a folder that this user can write, on a file system with locks' },
      cause: thrown,
    });
  }
}

/**
 * SQLite would make it readable for others and follow a link. A file that exists is not even opened: closing it again
 * would drop a lock that another part of this process has on it.
 */
function createMissing(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) return;
  if (found === undefined) createEmpty(path);
  else throw notAFile(path);
}

function notAFile(path: string): ToolError {
  return new ToolError('E_POLICY', `Not a regular file: ${path}`, {
    path,
    details: { reason: 'file_not_private', next: 'remove it' },
  });
}

function createEmpty(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch (thrown) {
    // Another process was first; its file is the one.
    if (errnoCode(thrown) !== 'EEXIST') throw thrown;
  }
}

function begin(database: DatabaseSync): boolean {
  try {
    // Nothing is ever written, so a journal beside it would only be litter.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch (thrown) {
    database.close();
    if ((Number((thrown as { errcode?: unknown }).errcode) & 0xff) === SQLITE_BUSY) return false;
    throw thrown;
  }
}
