/**
 * Back end B, without native code: one component at a time, each opened without following links.
 *
 * Links are read and followed by hand, so a target can only add components to the same walk: absolute targets and
 * a `..` above the root are EXDEV, as the kernel answers for back end A. `..` goes back over the descriptors already
 * held and never asks the file system for a parent, which a rename could have moved outside.
 */
import { accessSync, closeSync, constants, fstatSync, statfsSync } from 'node:fs';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { O_PATH } from '../open-flags.ts';
import { type DirectoryEntry, openEntry, openSubdirectory, readLink, reopenDirectory } from './directory-entry.ts';
import type { OpenBeneath } from './native-calls.ts';

/** The kernel's own limit. */
const MAX_LINKS = 40;
const PROC_SUPER_MAGIC = 0x9fa0;

interface Walk {
  /** Directories from the root down; the first belongs to the caller, the rest are closed at the end. */
  readonly held: number[];
  /** Components still to go, the next one last. */
  readonly pending: string[];
  mustBeDirectory: boolean;
  links: number;
}

interface Link {
  readonly text: string;
}

export const openByWalk: OpenBeneath = (rootFd, path, flags, mode) => {
  if (path.startsWith('/')) throw new ErrnoError('EXDEV');
  const walk: Walk = { held: [rootFd], pending: steps(path), mustBeDirectory: path.endsWith('/'), links: 0 };
  try {
    return finish(walk, flags, mode);
  } finally {
    for (const fd of walk.held.slice(1)) closeSync(fd);
  }
};

/** The next one last. A `.` stays: what stands before it has to be a directory. */
function steps(path: string): string[] {
  return path
    .split('/')
    .filter((step) => step !== '')
    .reverse();
}

function finish(walk: Walk, flags: number, mode: number): number {
  for (;;) {
    const name = walk.pending.pop();
    const dirFd = walk.held.at(-1) ?? -1;
    if (name === undefined) return reopenDirectory(dirFd, flags, mode);
    if (name === '.') continue;
    if (name === '..') {
      stepUp(walk, dirFd);
      continue;
    }
    const isLast = walk.pending.length === 0;
    if (isLast && walk.mustBeDirectory && (flags & constants.O_CREAT) !== 0) throw new ErrnoError('EISDIR');
    const isTarget = isLast && !walk.mustBeDirectory;
    const found = isTarget ? openTarget({ dirFd, name }, flags, mode) : openStep({ dirFd, name });
    if (typeof found !== 'number') follow(walk, dirFd, found);
    else if (isTarget) return found;
    else walk.held.push(found);
  }
}

function stepUp(walk: Walk, dirFd: number): void {
  // The kernel wants search permission on a directory to look up its `..`; so do we.
  accessSync(`/proc/self/fd/${dirFd}/.`);
  if (walk.held.length === 1) throw new ErrnoError('EXDEV');
  walk.held.pop();
  closeSync(dirFd);
}

function follow(walk: Walk, dirFd: number, link: Link): void {
  walk.links += 1;
  if (walk.links > MAX_LINKS) throw new ErrnoError('ELOOP');
  // Links of procfs may be magic: their text is not where they lead.
  if (statfsSync(`/proc/self/fd/${dirFd}`).type === PROC_SUPER_MAGIC) throw new ErrnoError('ELOOP');
  if (link.text.startsWith('/')) throw new ErrnoError('EXDEV');
  if (walk.pending.length === 0 && link.text.endsWith('/')) walk.mustBeDirectory = true;
  walk.pending.push(...steps(link.text));
}

function openStep(entry: DirectoryEntry): number | Link {
  try {
    return openSubdirectory(entry);
  } catch (thrown) {
    return linkBehind(thrown, entry);
  }
}

function openTarget(entry: DirectoryEntry, flags: number, mode: number): number | Link {
  let fd: number;
  try {
    fd = openEntry(entry, flags, mode);
  } catch (thrown) {
    if ((flags & constants.O_NOFOLLOW) !== 0) throw thrown;
    return linkBehind(thrown, entry);
  }
  // Only a bare handle opens the link itself instead of failing.
  if ((flags & O_PATH) === 0 || (flags & constants.O_NOFOLLOW) !== 0 || !fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  return linkBehind(new ErrnoError('ELOOP'), entry);
}

/** O_NOFOLLOW meets a link with ELOOP, and with ENOTDIR where a directory was wanted; anything else is the answer. */
function linkBehind(thrown: unknown, entry: DirectoryEntry): Link {
  const code = errnoCode(thrown);
  const text = code === 'ELOOP' || code === 'ENOTDIR' ? readLink(entry) : undefined;
  if (text === undefined) throw thrown;
  return { text };
}
