/** New content before it has its name: a file beside the target that only we could have made. */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fchmodSync, fchownSync } from 'node:fs';
import { TEMPORARY_PREFIX } from '../contracts/temporary-name.ts';
import { type DirectoryEntry, openEntry, removeFile } from './directory-entry.ts';

export interface TemporaryFile extends DirectoryEntry {
  readonly fd: number;
  /** Closes and removes it; for failures, instead of closing. */
  discard(): void;
}

export interface Ownership {
  readonly uid: number;
  readonly gid: number;
}

/** A name in that folder that nothing has, and that a sweep would clear away if we died. */
export function temporaryEntry(dirFd: number): DirectoryEntry {
  return { dirFd, name: `${TEMPORARY_PREFIX}${randomHex12()}` };
}

/** The mode is set again after creation because the process's umask narrows the first one. */
export function createTemporaryFile(dirFd: number, mode: number, owner: Ownership | undefined): TemporaryFile {
  const entry = temporaryEntry(dirFd);
  const fd = openEntry(entry, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  const file: TemporaryFile = {
    ...entry,
    fd,
    discard() {
      closeSync(fd);
      removeQuietly(entry);
    },
  };
  try {
    if (owner !== undefined) keepOwner(fd, owner);
    fchmodSync(fd, mode);
    return file;
  } catch (thrown) {
    file.discard();
    throw thrown;
  }
}

/** The first twelve digits of a version-4 UUID are all random, and Node keeps entropy for them at hand. */
function randomHex12(): string {
  const uuid = randomUUID();
  return `${uuid.slice(0, 8)}${uuid.slice(9, 13)}`;
}

function keepOwner(fd: number, owner: Ownership): void {
  if (owner.uid === process.geteuid?.() && owner.gid === process.getegid?.()) return;
  try {
    fchownSync(fd, owner.uid, owner.gid);
  } catch {
    // Only a privileged process may give files away; for the others the new file is simply theirs.
  }
}

function removeQuietly(entry: DirectoryEntry): void {
  try {
    removeFile(entry);
  } catch {
    // Already renamed or removed, or the disk is failing: the sweep at the next start takes what is left.
  }
}
