/**
 * One name inside one held directory: the `*at` calls, spelled through `/proc/self/fd`.
 *
 * The kernel turns `/proc/self/fd/N` into exactly the directory behind descriptor N, so nothing that is renamed
 * meanwhile can move the operation elsewhere. No function here follows a link in the last component.
 */

import { isUtf8 } from 'node:buffer';
import {
  accessSync,
  type BigIntStats,
  chmodSync,
  constants,
  type Dirent,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import type { EntryType } from '../../contracts/workspace.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { withStandingFlags } from './native-calls.ts';

/** A name met while walking a tree: bytes where it is no UTF-8, so that it can still be opened and removed. */
export interface InnerEntry {
  readonly dirFd: number;
  /** A single component, never `.` or `..`. */
  readonly name: string | Buffer;
}

export interface DirectoryEntry extends InnerEntry {
  readonly name: string;
}

/** A name with what is there. */
export interface FoundEntry extends DirectoryEntry {
  readonly stat: BigIntStats;
}

export interface ListedEntry extends InnerEntry {
  readonly type: EntryType;
}

const FORBIDDEN_IN_NAME = /[/\0]/;

/** The one place where a name is put behind a descriptor, hence the last guard against a name that is a path. */
function entryPath({ dirFd, name }: InnerEntry): string | Buffer {
  const text = typeof name === 'string' ? name : name.toString('latin1');
  if (dirFd < 0 || text === '' || text === '.' || text === '..' || FORBIDDEN_IN_NAME.test(text)) {
    throw new TypeError('Not a single name inside an open directory');
  }
  if (typeof name === 'string') return `/proc/self/fd/${dirFd}/${name}`;
  return Buffer.concat([Buffer.from(`/proc/self/fd/${dirFd}/`), name]);
}

/** The directory behind a descriptor opened anew, for instance to read or sync what is held only as a handle. */
export function reopenDirectory(dirFd: number, flags: number, mode?: number): number {
  return openSync(`/proc/self/fd/${dirFd}`, withStandingFlags(flags & ~constants.O_NOFOLLOW), mode);
}

export function openEntry(entry: InnerEntry, flags: number, mode?: number): number {
  return openSync(entryPath(entry), withStandingFlags(flags | constants.O_NOFOLLOW), mode);
}

export function openSubdirectory(entry: InnerEntry): number {
  return openEntry(entry, DIRECTORY_HANDLE);
}

/** lstat; undefined when there is no such name. */
export function statEntry(entry: InnerEntry): BigIntStats | undefined {
  return lstatSync(entryPath(entry), { bigint: true, throwIfNoEntry: false });
}

/** A link's text; undefined when the name is something else. Text that is no UTF-8 cannot be followed by name: EILSEQ. */
export function readLink(entry: InnerEntry): string | undefined {
  try {
    const text = readLinkBytes(entry);
    if (!isUtf8(text)) throw new ErrnoError('EILSEQ');
    return text.toString('utf8');
  } catch (thrown) {
    if (errnoCode(thrown) === 'EINVAL') return undefined;
    throw thrown;
  }
}

/** EINVAL when the name is no link. */
export function readLinkBytes(entry: InnerEntry): Buffer {
  return readlinkSync(entryPath(entry), 'buffer');
}

export function makeLink(entry: InnerEntry, text: Buffer): void {
  symlinkSync(text, entryPath(entry));
}

/** False when the name was there already, whatever it is. */
export function makeDirectory(entry: InnerEntry, mode: number): boolean {
  try {
    mkdirSync(entryPath(entry), mode);
    return true;
  } catch (thrown) {
    if (errnoCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/** Anything but a directory. */
export function removeFile(entry: InnerEntry): void {
  unlinkSync(entryPath(entry));
}

/** ENOTEMPTY unless it is empty. */
export function removeDirectory(entry: InnerEntry): void {
  rmdirSync(entryPath(entry));
}

export function renameEntry(from: InnerEntry, to: InnerEntry): void {
  renameSync(entryPath(from), entryPath(to));
}

export function linkEntry(from: InnerEntry, to: InnerEntry): void {
  linkSync(entryPath(from), entryPath(to));
}

/** Whether names may be added to and removed from the directory. */
export function mayChange(dirFd: number): boolean {
  try {
    accessSync(`/proc/self/fd/${dirFd}`, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    // Every reason to be denied is the same answer here.
    return false;
  }
}

/** Works on a bare handle too. */
export function setDirectoryMode(dirFd: number, mode: number): void {
  chmodSync(`/proc/self/fd/${dirFd}`, mode);
}

export function touchDirectory(dirFd: number): void {
  const now = Date.now() / 1000;
  utimesSync(`/proc/self/fd/${dirFd}`, now, now);
}

/** Every entry of a folder that the runtime fills itself, all at once. Any other is read with directory-reader.ts. */
export function listOwnEntries(dirFd: number): ListedEntry[] {
  const found = readdirSync(`/proc/self/fd/${dirFd}`, { withFileTypes: true });
  if (!found.some(({ name }) => name.includes('\ufffd'))) {
    return found.map((entry) => ({ dirFd, name: entry.name, type: typeOf(entry) }));
  }
  // Some name may be no UTF-8; only then are bytes worth their price.
  const raw = readdirSync(`/proc/self/fd/${dirFd}`, { withFileTypes: true, encoding: 'buffer' });
  return raw.map((entry) => {
    const name = isUtf8(entry.name) ? entry.name.toString('utf8') : entry.name;
    return { dirFd, name, type: typeOf(entry) };
  });
}

/** What an entry or its stat is. */
export function typeOf(found: Dirent | Dirent<Buffer> | BigIntStats): EntryType {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'directory';
  return found.isSymbolicLink() ? 'symlink' : 'other';
}
