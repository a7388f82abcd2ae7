/**
 * A directory held open for a session's life, and the only way to reach what is below it.
 *
 * Names are never joined to an absolute path: the directory may be renamed while it is in use, and a descriptor is
 * the one thing an attacker cannot swap. Methods throw errors with an errno `code`; callers add the path to them.
 */
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { failure } from '../../contracts/failures.ts';
import { ErrnoError, errnoCode, errnoError } from '../errno-error.ts';
import { DIRECTORY_HANDLE, O_PATH } from '../open-flags.ts';
import { type DirectoryEntry, openEntry, openSubdirectory, readLink, reopenDirectory } from './directory-entry.ts';
import { createDirectoryLock, type DirectoryLock } from './directory-lock.ts';
import { createOpenat2, hasOpenat2, loadNativeCalls, type NativeCalls, type OpenBeneath } from './native-calls.ts';
import { joinPath, type RelativePath, splitPath } from './path-rules.ts';
import { nativeRename, plainRename, type Rename } from './rename-entry.ts';

export type RootBackend = 'openat2' | 'walk';

export interface ParentDirectory extends DirectoryEntry {
  close(): void;
}

export interface Root {
  readonly backend: RootBackend;
  /** For another root: see `RootOptions`. */
  readonly native: NativeCalls | undefined;
  /** `device:inode` of the directory. */
  readonly identity: string;
  /** Where it was when it was opened: absolute, without links. */
  readonly path: string;
  /** A new handle of the directory itself; the caller closes it. */
  open(): number;
  /** The caller closes the descriptor. Follows links that stay inside unless O_NOFOLLOW is given. */
  openBeneath(path: RelativePath, flags: number, mode?: number): number;
  /** The directory that holds the last name of `path`; EISDIR when the path ends in `..` or is the root itself. */
  openParent(path: RelativePath): ParentDirectory;
  /** lstat; follows links in all but the last component. */
  statBeneath(path: RelativePath): BigIntStats;
  /** Both entries come from a root, not necessarily this one. `exchange` needs the native calls (ENOTSUP without). */
  readonly rename: Rename;
  /** Gives an open file without a name its first one, EEXIST when that is taken. Only with native calls. */
  readonly linkFile: ((fd: number, to: DirectoryEntry) => void) | undefined;
  /** Hears of each folder, by absolute path, before a temporary name is made in it. */
  readonly noteFolder: NoteFolder | undefined;
  /** One writer at a time in a held directory, across processes. */
  readonly lock: DirectoryLock;
  /** Where a held directory is now, as components below the root; undefined when it was moved out. */
  locate(dirFd: number): readonly string[] | undefined;
  close(): void;
}

export type NoteFolder = (folder: string) => void;

export interface RootOptions {
  /** `auto` takes openat2 where koffi and the kernel have it, else the walk. */
  readonly backend?: RootBackend | 'auto';
  readonly noteFolder?: NoteFolder | undefined;
  /** Throws when names must not change any more; asked right before each change. */
  readonly fence?: (() => void) | undefined;
  /** For those who open many roots: binding the calls takes longer than using them. */
  readonly native?: NativeCalls | undefined;
}

/** Throws E_POLICY when the directory cannot be opened or nothing on this machine can confine paths to it. */
export function openRoot(
  directory: string,
  { backend = 'auto', noteFolder, fence, native: bound }: RootOptions = {},
): Root {
  const rootFd = openHeldDirectory(directory);
  try {
    const native = backend === 'walk' ? undefined : usableNativeCalls(rootFd, bound);
    if (backend === 'openat2' && native === undefined) {
      throw unconfinable('openat2 is not available: it needs Linux 5.6 and the koffi package');
    }
    const root = createRoot(rootFd, native, noteFolder);
    return fence === undefined ? root : { ...root, ...fenced(root, fence) };
  } catch (thrown) {
    closeSync(rootFd);
    throw thrown;
  }
}

function openHeldDirectory(directory: string): number {
  if (process.platform !== 'linux') {
    throw unconfinable(`Paths cannot be confined on this platform yet: ${process.platform}`);
  }
  let fd: number;
  try {
    fd = openSync(directory, DIRECTORY_HANDLE);
  } catch (thrown) {
    throw failure(
      'host_configuration_needed',
      'host_configuration_needed',
      `Workspace folder cannot be opened: ${directory}`,
      { details: { reason: errnoCode(thrown) ?? 'unknown', next: 'Name an existing, readable folder' }, cause: thrown },
    );
  }
  const throughProc = statSync(`/proc/self/fd/${fd}`, { bigint: true, throwIfNoEntry: false });
  if (throughProc !== undefined && identityOf(throughProc) === identityOf(fstatSync(fd, { bigint: true }))) return fd;
  closeSync(fd);
  throw unconfinable('Paths cannot be confined without the proc file system: /proc is not mounted');
}

function unconfinable(message: string): Error {
  return failure('host_configuration_needed', 'host_configuration_needed', message, {
    details: { next: 'Run on Linux with /proc mounted, or choose another back end' },
  });
}

function usableNativeCalls(rootFd: number, bound: NativeCalls | undefined): NativeCalls | undefined {
  const native = bound ?? loadNativeCalls();
  return native !== undefined && hasOpenat2(native, rootFd) ? native : undefined;
}

function createRoot(rootFd: number, native: NativeCalls | undefined, noteFolder: NoteFolder | undefined): Root {
  // After close the number may belong to someone else's file, so it must be forgotten, not only closed.
  let heldFd = rootFd;
  const open: OpenBeneath = native === undefined ? openByWalk : createOpenat2(native);
  const openBeneath = (path: RelativePath, flags: number, mode = 0o600): number => {
    if (heldFd < 0) throw new ErrnoError('EBADF');
    return open(heldFd, path, flags, mode);
  };
  return {
    backend: native === undefined ? 'walk' : 'openat2',
    native,
    identity: identityOf(fstatSync(rootFd, { bigint: true })),
    path: readlinkSync(`/proc/self/fd/${rootFd}`),
    open: () => openBeneath(joinPath([]), DIRECTORY_HANDLE),
    openBeneath,
    openParent(path) {
      const { components } = splitPath(path);
      const name = components.at(-1);
      if (name === undefined || name === '..') throw new ErrnoError('EISDIR');
      const dirFd = openBeneath(joinPath(components.slice(0, -1)), DIRECTORY_HANDLE);
      return { dirFd, name, close: () => closeSync(dirFd) };
    },
    statBeneath(path) {
      const fd = openBeneath(path, O_PATH | constants.O_NOFOLLOW);
      try {
        return fstatSync(fd, { bigint: true });
      } finally {
        closeSync(fd);
      }
    },
    linkFile: native === undefined ? undefined : nativeLink(native),
    noteFolder,
    rename: native === undefined ? plainRename : nativeRename(native),
    lock: createDirectoryLock(native),
    locate: (dirFd) => (heldFd < 0 ? undefined : locateBelow(heldFd, dirFd)),
    close() {
      if (heldFd >= 0) closeSync(heldFd);
      heldFd = -1;
    },
  };
}

/** The check and the change are one step of this process: nothing but a stop of the whole process comes between. */
function fenced({ rename, linkFile }: Root, fence: () => void): Pick<Root, 'rename' | 'linkFile'> {
  return {
    rename(...names) {
      fence();
      rename(...names);
    },
    linkFile:
      linkFile === undefined
        ? undefined
        : (...names) => {
            fence();
            linkFile(...names);
          },
  };
}

function nativeLink(native: NativeCalls): Root['linkFile'] {
  return (fd, to) => {
    const result = native.linkFile(fd, to);
    if (result < 0) throw errnoError(-result);
  };
}

/** `device:inode`. */
export function identityOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}`;
}

function locateBelow(rootFd: number, dirFd: number): readonly string[] | undefined {
  const top = readlinkSync(`/proc/self/fd/${rootFd}`);
  const here = readlinkSync(`/proc/self/fd/${dirFd}`);
  if (here === top) return [];
  const prefix = top.endsWith('/') ? top : `${top}/`;
  return here.startsWith(prefix) ? here.slice(prefix.length).split('/') : undefined;
}

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

/**
 * Back end B, without native code: one component at a time, each opened without following links.
 *
 * Links are read and followed by hand, so a target can only add components to the same walk: absolute targets and
 * a `..` above the root are EXDEV, as the kernel answers for back end A. `..` goes back over the descriptors already
 * held and never asks the file system for a parent, which a rename could have moved outside.
 */
const openByWalk: OpenBeneath = (rootFd, path, flags, mode) => {
  if (path.startsWith('/')) throw new ErrnoError('EXDEV');
  const walk: Walk = { held: [rootFd], pending: steps(path), mustBeDirectory: path.endsWith('/'), links: 0 };
  try {
    return finish(walk, flags, mode);
  } finally {
    for (const fd of walk.held.slice(1)) closeSync(fd);
  }
};

/** The next one last. A `.` stays: what is before it has to be a directory. */
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
