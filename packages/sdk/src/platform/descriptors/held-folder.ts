/**
 * Folders reached one name at a time from a trusted base, each opened without following a link and held by descriptor.
 *
 * A name that is swapped for a link afterwards no longer matters: everything goes through the descriptor.
 */
import { closeSync, openSync, readlinkSync } from 'node:fs';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { openSubdirectory } from './directory-entry.ts';

/** A folder that stays the same whatever happens to its name. */
export interface HeldFolder {
  readonly dirFd: number;
}

/** The caller closes it. Links on the way to the base itself are followed: the base is the operator's word. */
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
