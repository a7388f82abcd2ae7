/**
 * Removal of whole folders: first out of the way under a temporary name in one step, then emptied by descriptor.
 *
 * No link is ever followed: each folder is opened below the descriptor of its parent. Several may empty one tree at
 * once, a running removal and a sweep: whatever is gone already was wanted gone.
 */
import { closeSync, fstatSync } from 'node:fs';
import {
  type DirectoryEntry,
  type InnerEntry,
  type ListedEntry,
  openSubdirectory,
  removeDirectory,
  removeFile,
  setDirectoryMode,
  statEntry,
} from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import { identityOf, type Root } from '../descriptors/root.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import { MAX_DEPTH } from './survey-tree.ts';
import { temporaryEntry } from './temporary-file.ts';

/** What others add while we remove is removed as well, but not forever. */
const MAX_ROUNDS = 16;
const OWNER_ACCESS = 0o700;

/** Gone, or turned from file to folder or back since it was listed; what is left shows in the next round. */
const CHANGED_MEANWHILE = new Set<string | undefined>(['ENOENT', 'EISDIR', 'ENOTDIR', 'ELOOP']);

/**
 * Takes the folder out of sight. EAGAIN, and everything as before, when the name no longer means `identity`. In the lower
 * layer of an overlay no folder can be renamed: then the answer is the folder itself.
 */
export function setAside(root: Root, folder: DirectoryEntry, identity: string): DirectoryEntry {
  const aside = temporaryEntry(folder.dirFd, root);
  try {
    root.rename(folder, aside, 'replace');
  } catch (thrown) {
    if (errnoCode(thrown) !== 'EXDEV') throw thrown;
    const standing = statEntry(folder);
    if (standing !== undefined && identityOf(standing) === identity) return folder;
    throw new ErrnoError('EAGAIN');
  }
  const found = statEntry(aside);
  if (found !== undefined && identityOf(found) === identity) return aside;
  root.rename(aside, folder, 'noreplace');
  throw new ErrnoError('EAGAIN');
}

/**
 * Answers what went wrong, if anything: once a folder is aside it is gone for everyone, whatever happens to the rest.
 * A cancelled call leaves that to the next sweep.
 */
export async function removeAside(aside: DirectoryEntry, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    await removeTree(aside, new Pace(signal));
    return undefined;
  } catch (thrown) {
    return signal?.aborted === true ? undefined : thrown;
  }
}

/** Nothing happens when it is gone already. */
export async function removeTree(folder: InnerEntry, pace: Pace, depth = 1): Promise<void> {
  if (depth > MAX_DEPTH) throw new ErrnoError('EMFILE');
  for (let round = 1; ; round++) {
    try {
      await emptyFolder(folder, pace, depth);
      removeDirectory(folder);
      return;
    } catch (thrown) {
      const code = errnoCode(thrown);
      if (code === 'ENOENT') return;
      if (code !== 'ENOTEMPTY' || round === MAX_ROUNDS) throw thrown;
    }
  }
}

async function emptyFolder(folder: InnerEntry, pace: Pace, depth: number): Promise<void> {
  const dirFd = openSubdirectory(folder);
  try {
    allowChanges(dirFd);
    for (const entry of await listEntries(dirFd)) {
      if (pace.isDue(ENTRY_UNITS)) await pace.pause();
      await removeInner(entry, pace, depth + 1);
    }
  } finally {
    closeSync(dirFd);
  }
}

async function removeInner(entry: ListedEntry, pace: Pace, depth: number): Promise<void> {
  try {
    if (entry.type === 'directory') await removeTree(entry, pace, depth);
    else removeFile(entry);
  } catch (thrown) {
    if (!CHANGED_MEANWHILE.has(errnoCode(thrown))) throw thrown;
  }
}

function allowChanges(dirFd: number): void {
  const { mode, uid } = fstatSync(dirFd);
  if ((mode & OWNER_ACCESS) === OWNER_ACCESS || uid !== process.geteuid?.()) return;
  setDirectoryMode(dirFd, OWNER_ACCESS);
}
