/**
 * A directory held open for a session's life, and the only way to reach what is below it.
 *
 * Names are never joined to an absolute path: the directory may be renamed while it is in use, and a descriptor is
 * the one thing an attacker cannot swap. Methods throw errors with an errno `code`; callers add the path to them.
 */
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readlinkSync, statSync } from 'node:fs';
import { failure } from '../../contracts/failures.ts';
import { ErrnoError, errnoCode, errnoError } from '../errno-error.ts';
import { DIRECTORY_HANDLE, O_PATH } from '../open-flags.ts';
import type { DirectoryEntry } from './directory-entry.ts';
import { createDirectoryLock, type DirectoryLock } from './directory-lock.ts';
import { createOpenat2, hasOpenat2, loadNativeCalls, type NativeCalls, type OpenBeneath } from './native-calls.ts';
import { joinPath, type RelativePath, splitPath } from './path-rules.ts';
import { nativeRename, plainRename, type Rename } from './rename-entry.ts';
import { openByWalk } from './walk.ts';

export type RootBackend = 'openat2' | 'walk';

export interface ParentDirectory extends DirectoryEntry {
  close(): void;
}

export interface Root {
  readonly backend: RootBackend;
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
  /** For those who open many roots: binding the calls takes longer than using them. */
  readonly native?: NativeCalls | undefined;
}

/** Throws E_POLICY when the directory cannot be opened or nothing on this machine can confine paths to it. */
export function openRoot(directory: string, { backend = 'auto', noteFolder, native: bound }: RootOptions = {}): Root {
  const rootFd = openHeldDirectory(directory);
  try {
    const native = backend === 'walk' ? undefined : usableNativeCalls(rootFd, bound);
    if (backend === 'openat2' && native === undefined) {
      throw unconfinable('openat2 is not available: it needs Linux 5.6 and the koffi package');
    }
    return createRoot(rootFd, native, noteFolder);
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
