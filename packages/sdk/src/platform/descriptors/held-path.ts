/**
 * A path opened one name at a time without following a link, and held: while the descriptor is open, no other object
 * can get its device and inode number.
 */
import { type BigIntStats, closeSync, fstatSync, openSync, readlinkSync } from 'node:fs';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE, O_PATH } from '../open-flags.ts';
import { openEntry, openSubdirectory } from './directory-entry.ts';

export interface HeldPath {
  readonly fd: number;
  readonly stat: BigIntStats;
}

/** ELOOP or ENOTDIR where a name is a link. The caller closes the descriptor. */
export function holdPath(path: string): HeldPath {
  const root = openSync('/', DIRECTORY_HANDLE);
  try {
    return holdBelow(root, namesOf(path));
  } finally {
    closeSync(root);
  }
}

/** Same, for names below an open folder. */
export function holdBelow(folder: number, names: readonly string[]): HeldPath {
  let [at, isOwn] = [folder, false];
  try {
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      const next = isLast ? openEntry({ dirFd: at, name }, O_PATH) : openSubdirectory({ dirFd: at, name });
      if (isOwn) closeSync(at);
      [at, isOwn] = [next, true];
    }
    const stat = fstatSync(at, { bigint: true });
    if (stat.isSymbolicLink()) throw new ErrnoError('ELOOP');
    if (isOwn) return { fd: at, stat };
    return { fd: openSync(`/proc/self/fd/${at}`, O_PATH), stat };
  } catch (thrown) {
    if (isOwn) closeSync(at);
    throw thrown;
  }
}

/** Undefined when a name is missing, is a link, or is no folder although something should be below it. */
export function tryHoldBelow(folder: number, names: readonly string[]): HeldPath | undefined {
  try {
    return holdBelow(folder, names);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoCode(thrown) ?? '')) return undefined;
    throw thrown;
  }
}

export function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '');
}

/** A folder that stays the same whatever happens to its name. */
export interface HeldFolder {
  readonly dirFd: number;
}

/**
 * Folders reached one name at a time from a trusted base, each opened without following a link and held by descriptor.
 *
 * A name that is swapped for a link afterwards no longer matters: everything goes through the descriptor.
 *
 * The caller closes it. Links on the way to the base itself are followed: the base is the operator's word.
 */
export function openBase(base: string): number {
  return openSync(base, DIRECTORY_HANDLE);
}

/** The folder at `names` below `baseFd`; the caller closes it. ENOTDIR or ELOOP where a name is a link. */
export function openBelow(baseFd: number, names: readonly string[]): number {
  return names.reduce<number>(
    (parent, name) => {
      try {
        return openSubdirectory({ dirFd: parent, name });
      } finally {
        if (parent !== baseFd) closeSync(parent);
      }
    },
    names.length === 0 ? openSync(`/proc/self/fd/${baseFd}`, DIRECTORY_HANDLE) : baseFd,
  );
}

/** Where a held folder is now. */
export function pathOf(dirFd: number): string {
  return readlinkSync(`/proc/self/fd/${dirFd}`);
}
