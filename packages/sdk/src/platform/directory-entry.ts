/**
 * One name inside one held directory: the `*at` calls, spelled through `/proc/self/fd`.
 *
 * The kernel turns `/proc/self/fd/N` into exactly the directory behind descriptor N, so nothing that is renamed
 * meanwhile can move the operation elsewhere. No function here follows a link in the last component.
 */

import { isUtf8 } from 'node:buffer';
import {
  type BigIntStats,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { ErrnoError, errnoCode } from './errno-error.ts';
import { DIRECTORY_HANDLE, withStandingFlags } from './open-flags.ts';

export interface DirectoryEntry {
  readonly dirFd: number;
  /** A single component, never `.` or `..`. */
  readonly name: string;
}

/** The one place where a name is put behind a descriptor, hence the last guard against a name that is a path. */
function entryPath({ dirFd, name }: DirectoryEntry): string {
  if (dirFd < 0 || name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw new TypeError('Not a single name inside an open directory');
  }
  return `/proc/self/fd/${dirFd}/${name}`;
}

/** The directory behind a descriptor opened anew, for instance to read or sync what is held only as a handle. */
export function reopenDirectory(dirFd: number, flags: number, mode?: number): number {
  return openSync(`/proc/self/fd/${dirFd}`, withStandingFlags(flags & ~constants.O_NOFOLLOW), mode);
}

export function openEntry(entry: DirectoryEntry, flags: number, mode?: number): number {
  return openSync(entryPath(entry), withStandingFlags(flags | constants.O_NOFOLLOW), mode);
}

export function openSubdirectory(entry: DirectoryEntry): number {
  return openEntry(entry, DIRECTORY_HANDLE);
}

/** lstat; undefined when there is no such name. */
export function statEntry(entry: DirectoryEntry): BigIntStats | undefined {
  return lstatSync(entryPath(entry), { bigint: true, throwIfNoEntry: false });
}

/** A link's text; undefined when the name is something else. Text that is no UTF-8 cannot be followed by name: EILSEQ. */
export function readLink(entry: DirectoryEntry): string | undefined {
  try {
    const text = readlinkSync(entryPath(entry), 'buffer');
    if (!isUtf8(text)) throw new ErrnoError('EILSEQ');
    return text.toString('utf8');
  } catch (thrown) {
    if (errnoCode(thrown) === 'EINVAL') return undefined;
    throw thrown;
  }
}

/** False when the name was there already, whatever it is. */
export function makeDirectory(entry: DirectoryEntry, mode: number): boolean {
  try {
    mkdirSync(entryPath(entry), mode);
    return true;
  } catch (thrown) {
    if (errnoCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

export function removeFile(entry: DirectoryEntry): void {
  unlinkSync(entryPath(entry));
}

export function renameEntry(from: DirectoryEntry, to: DirectoryEntry): void {
  renameSync(entryPath(from), entryPath(to));
}

export function linkEntry(from: DirectoryEntry, to: DirectoryEntry): void {
  linkSync(entryPath(from), entryPath(to));
}

/** Names in a directory; those that are no UTF-8 come back mangled and will simply not be found. */
export function listNames(dirFd: number): string[] {
  return readdirSync(`/proc/self/fd/${dirFd}`);
}
