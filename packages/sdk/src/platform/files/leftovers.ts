/**
 * What a crash left behind under a temporary name: files, links and whole trees.
 *
 * Only exact names of ours, our own user's, whose owner is dead or that are a minute old. A tree is renamed before it
 * is removed: a slow copy that is still alive then fails to find it under its name, instead of publishing what a sweep
 * has half removed.
 */
import { closeSync } from 'node:fs';
import { isTemporaryName, temporaryOwner } from '../../contracts/path-text.ts';
import { type DirectoryEntry, removeFile, renameEntry, statEntry } from '../descriptors/directory-entry.ts';
import { findNames } from '../descriptors/directory-reader.ts';
import { joinPath, type RelativePath, splitPath } from '../descriptors/path-rules.ts';
import type { Place } from '../descriptors/places.ts';
import type { Root } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { Pace } from '../pace.ts';
import { isOwnerDead } from '../processes/process-identity.ts';
import { removeTree } from './remove-tree.ts';
import { temporaryName } from './temporary-file.ts';

const MIN_AGE_MS = 60_000;
const MAX_REMOVED = 1000;

const SWEEP_EVERY_MS = 60_000;
const LOOK_EVERY_MS = 1000;
const MAX_SWEPT_FOLDERS = 1000;

/**
 * For every write: clears away what killed writes left in the folder of the file, at most once a minute for a folder, and
 * in the folders noted by processes that died, at most once a second. It runs beside the write; its failures are not the
 * write's.
 */
export function createFolderSweep(sweepNoted: () => Promise<void>): (place: Place) => void {
  const swept = new Map<string, number>();
  let lookedMs = 0;
  return ({ root, path, spelling, isWritable }) => {
    const folder = parentOf(path);
    const now = Date.now();
    if (Math.abs(now - lookedMs) >= LOOK_EVERY_MS) {
      lookedMs = now;
      sweepNoted().catch(() => {});
    }
    const key = parentOf(spelling);
    if (!isWritable || Math.abs(now - (swept.get(key) ?? 0)) < SWEEP_EVERY_MS) return;
    if (swept.size >= MAX_SWEPT_FOLDERS) swept.clear();
    swept.set(key, now);
    sweepDirectory(root, folder, now).catch(() => {});
  };
}

function parentOf(path: string): RelativePath {
  return joinPath(splitPath(path).components.slice(0, -1));
}

/** Absolute folders; those outside these roots, and those that are gone, are passed over. */
export async function sweepFolders(roots: readonly Root[], folders: readonly string[]): Promise<void> {
  const now = Date.now();
  for (const folder of folders) {
    for (const root of roots.filter(({ path }) => `${folder}/`.startsWith(path === '/' ? path : `${path}/`))) {
      const names = folder.slice(root.path.length).split('/').filter(Boolean);
      await sweepDirectory(root, joinPath(names), now).catch(ignoreMissing);
    }
  }
}

function ignoreMissing(thrown: unknown): void {
  if (errnoCode(thrown) === undefined) throw thrown;
}

/** Removes leftovers directly inside `directory`; answers how many. */
export async function sweepDirectory(root: Root, directory: RelativePath, now: number): Promise<number> {
  const dirFd = root.openBeneath(directory, DIRECTORY_HANDLE);
  try {
    return await sweepLeftovers(dirFd, now);
  } finally {
    closeSync(dirFd);
  }
}

/** The same inside a held directory. What cannot be removed is left for another time: a sweep never fails a call. */
export async function sweepLeftovers(dirFd: number, now: number): Promise<number> {
  let removed = 0;
  for (const name of await namesIn(dirFd)) {
    if (removed === MAX_REMOVED) break;
    if (await removeIfStale({ dirFd, name }, now)) removed += 1;
  }
  return removed;
}

async function namesIn(dirFd: number): Promise<string[]> {
  try {
    return await findNames(dirFd, isTemporaryName);
  } catch {
    // A folder we may enter but not read shows us no leftovers.
    return [];
  }
}

async function removeIfStale(entry: DirectoryEntry, now: number): Promise<boolean> {
  try {
    const stat = statEntry(entry);
    const owner = temporaryOwner(entry.name);
    const isLost = owner !== undefined && isOwnerDead(owner);
    if (stat === undefined || (!isLost && now - Number(stat.mtimeMs) < MIN_AGE_MS)) return false;
    if (Number(stat.uid) !== process.geteuid?.()) return false;
    if (stat.isDirectory()) await removeStaleTree(entry);
    else removeFile(entry);
    return true;
  } catch (thrown) {
    // Swept by another process, or not ours to remove after all.
    if (errnoCode(thrown) !== undefined) return false;
    throw thrown;
  }
}

async function removeStaleTree(entry: DirectoryEntry): Promise<void> {
  const claimed = { dirFd: entry.dirFd, name: temporaryName() };
  renameEntry(entry, claimed);
  await removeTree(claimed, new Pace(undefined));
}
