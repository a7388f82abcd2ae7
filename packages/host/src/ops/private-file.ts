/**
 * Files only this user may read: regular, ours, 0600, never reached through a link at their own name.
 *
 * What is written appears whole or not at all: it gets its name only after it is on disk. A file that is found open to
 * others is refused, not fixed: by then another user may have read it.
 */
import { randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';

export interface PrivateFile {
  readonly text: string;
  /** Differs whenever the file was changed or replaced. */
  readonly stamp: string;
}

const OTHERS = 0o077n;
/** A FIFO under the name must not make the open wait; Windows knows neither flag. */
const CAREFUL = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Undefined when there is no such file; E_POLICY when it is not private, E_FILE_IO when it cannot be read. */
export function readPrivateFile(path: string, options: { readonly maxBytes: number }): PrivateFile | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | CAREFUL);
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return undefined;
    throw errnoCode(thrown) === 'ELOOP' ? isLink(path) : unreadable(path, thrown);
  }
  try {
    const stat = fstatSync(file, { bigint: true });
    checkPrivate(path, stat);
    return { text: readBounded(file, path, options.maxBytes), stamp: stampOfStat(stat) };
  } finally {
    closeSync(file);
  }
}

/** The stamp of what has the name now, unopened. Nothing, or nothing that can be seen, has a stamp too. */
export function stampOf(path: string): string {
  try {
    return stampOfStat(lstatSync(path, { bigint: true }));
  } catch (thrown) {
    return errnoCode(thrown) ?? 'EIO';
  }
}

/** False when the name was taken already: of two processes that create it at once, exactly one is told true. */
export function createPrivateFile(path: string, text: string): boolean {
  return placeDraft(path, text, (draft) => {
    try {
      linkSync(draft, path);
      return true;
    } catch (thrown) {
      if (errnoCode(thrown) === 'EEXIST') return false;
      throw thrown;
    }
  });
}

/** Readers see the old text or the new one, never half. */
export function replacePrivateFile(path: string, text: string): void {
  placeDraft(path, text, (draft) => renameSync(draft, path));
}

function placeDraft<T>(path: string, text: string, place: (draft: string) => T): T {
  const draft = join(dirname(path), `.draft-${randomBytes(8).toString('hex')}`);
  try {
    const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    const result = place(draft);
    syncFolder(dirname(path));
    return result;
  } catch (thrown) {
    throw unwritable(path, thrown);
  } finally {
    rmSync(draft, { force: true });
  }
}

function syncFolder(folder: string): void {
  // Windows opens no folders; a rename there is as durable as it gets.
  if (process.platform === 'win32') return;
  const file = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** One byte more than allowed is asked for: the size said before reading may be out of date. */
function readBounded(file: number, path: string, maxBytes: number): string {
  const bytes = Buffer.alloc(maxBytes + 1);
  let length = 0;
  for (;;) {
    const count = readSync(file, bytes, length, bytes.length - length, null);
    length += count;
    if (length > maxBytes) throw new ToolError('E_FILE_IO', `File is larger than ${maxBytes} bytes: ${path}`, { path });
    if (count === 0) return bytes.toString('utf8', 0, length);
  }
}

function checkPrivate(path: string, stat: BigIntStats): void {
  if (!stat.isFile()) throw notPrivate(`Not a regular file: ${path}`, path, 'name a regular file');
  if (process.geteuid === undefined) return;
  if (stat.uid !== BigInt(process.geteuid())) {
    throw notPrivate(`File belongs to another user: ${path}`, path, 'run as its owner, or name a file of this user');
  }
  if ((stat.mode & OTHERS) !== 0n) {
    throw notPrivate(`File is open to other users: ${path}`, path, `chmod 600 ${path}, and replace what was in it`);
  }
}

function stampOfStat({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

function isLink(path: string): ToolError {
  return notPrivate(`File is a symbolic link: ${path}`, path, 'name the file itself');
}

function notPrivate(message: string, path: string, next: string): ToolError {
  return new ToolError('E_POLICY', message, { path, details: { gate: 'auth', reason: 'file_not_private', next } });
}

function unreadable(path: string, cause: unknown): ToolError {
  const reason = errnoCode(cause) ?? 'EIO';
  return new ToolError('E_FILE_IO', `File cannot be read: ${path}`, {
    path,
    details: { reason, next: 'check the path and its permissions' },
    cause,
  });
}

function unwritable(path: string, cause: unknown): ToolError {
  const reason = errnoCode(cause) ?? 'EIO';
  return new ToolError('E_FILE_IO', `File cannot be written: ${path}`, {
    path,
    details: { reason, next: 'name a file in a folder this user can write' },
    cause,
  });
}

/** `ENOENT` and friends; undefined for anything that is not a failed system call. */
export function errnoCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code } = thrown as { code?: unknown };
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
