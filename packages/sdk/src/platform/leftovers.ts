/** Temporary files a crash left behind. Only exact names of ours, our own user's, a minute old: a running write keeps its file. */
import { closeSync, constants } from 'node:fs';
import { type DirectoryEntry, listNames, removeFile, statEntry } from './directory-entry.ts';
import { errnoCode } from './errno-error.ts';
import type { RelativePath } from './path-rules.ts';
import type { Root } from './root.ts';
import { TEMPORARY_NAME } from './temporary-file.ts';

const MIN_AGE_MS = 60_000;
const MAX_REMOVED = 1000;

/** Removes leftovers directly inside `directory`; answers how many. */
export function removeLeftovers(root: Root, directory: RelativePath, now: number): number {
  const dirFd = root.openBeneath(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  let removed = 0;
  try {
    for (const name of listNames(dirFd)) {
      if (removed === MAX_REMOVED) break;
      if (TEMPORARY_NAME.test(name) && removeIfStale({ dirFd, name }, now)) removed += 1;
    }
  } finally {
    closeSync(dirFd);
  }
  return removed;
}

function removeIfStale(entry: DirectoryEntry, now: number): boolean {
  const stat = statEntry(entry);
  if (stat === undefined || !stat.isFile() || now - Number(stat.mtimeMs) < MIN_AGE_MS) return false;
  if (Number(stat.uid) !== process.geteuid?.()) return false;
  try {
    removeFile(entry);
    return true;
  } catch (thrown) {
    // Another process may sweep the same folder.
    if (errnoCode(thrown) === 'ENOENT') return false;
    throw thrown;
  }
}
