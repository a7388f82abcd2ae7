/** Names and modes of a commit: how a folder is made, and how what lies under a temporary name gets its own. */
import { closeSync } from 'node:fs';
import {
  type DirectoryEntry,
  type InnerEntry,
  linkEntry,
  makeDirectory,
  openSubdirectory,
  removeFile,
  renameEntry,
  setDirectoryMode,
} from '../descriptors/directory-entry.ts';
import { PERMISSION_BITS } from '../descriptors/file-content.ts';
import { errnoCode } from '../errno-error.ts';
import { temporaryEntry } from '../files/temporary-file.ts';
import type { HeldFolders } from './held-folders.ts';

export const BUILDING_MODE = 0o700;

/** Thrown when something is not what it was a moment ago; the commit is taken back. */
export class Slipped extends Error {
  readonly path: string;

  constructor(path: string) {
    super('changed meanwhile');
    this.path = path;
  }
}

export function makeFolder(entry: InnerEntry, mode: number): boolean {
  if (!makeDirectory(entry, BUILDING_MODE)) return false;
  setMode(entry, mode);
  return true;
}

export function setMode(entry: InnerEntry, mode: number): void {
  const fd = openSubdirectory(entry);
  try {
    setDirectoryMode(fd, mode & PERMISSION_BITS);
  } finally {
    closeSync(fd);
  }
}

/** A link fails where the name is taken; the kernel's own flag does the same in one step. */
export function publishNew(folders: HeldFolders, from: InnerEntry, to: InnerEntry, path: string): void {
  try {
    if (isText(from) && isText(to)) {
      folders.root.rename(from, to, 'noreplace');
      return;
    }
    linkEntry(from, to);
    removeFile(from);
  } catch (thrown) {
    throw errnoCode(thrown) === 'EEXIST' ? new Slipped(path) : thrown;
  }
}

/** Answers the name under which the old content lies now. */
export function replace(folders: HeldFolders, from: InnerEntry, to: InnerEntry): string {
  const temporary = String(from.name);
  if (isText(from) && isText(to)) {
    try {
      folders.root.rename(from, to, 'exchange');
      return temporary;
    } catch (thrown) {
      if (errnoCode(thrown) !== 'ENOTSUP') throw thrown;
    }
  }
  const aside = temporaryEntry(to.dirFd, folders.root);
  linkEntry(to, aside);
  renameEntry(from, to);
  return aside.name;
}

export function isText(entry: InnerEntry): entry is DirectoryEntry {
  return typeof entry.name === 'string';
}
