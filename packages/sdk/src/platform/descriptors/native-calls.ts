/**
 * The only signatures of system calls Node does not offer.
 *
 * A wrong signature can crash the process: there are eight, all of integers, one string form and buffers of a stated length.
 * koffi is optional; without it, or away from 64-bit little-endian Linux, there are no native calls.
 */

import { closeSync, constants } from 'node:fs';
import { endianness, constants as osConstants } from 'node:os';
import { errnoError } from '../errno-error.ts';
import { type Koffi, loadKoffi, type NativeFunction, type NativeLibrary } from '../koffi.ts';
import { DIRECTORY_HANDLE, O_CLOEXEC, O_PATH } from '../open-flags.ts';
import type { DirectoryEntry } from './directory-entry.ts';

/** Each answers a result of zero or more, or a negated errno. */
export interface NativeCalls {
  /** Resolution that never leaves `dirFd` and never follows a magic link. The path must hold no NUL. */
  openBeneath(dirFd: number, path: string, flags: number, mode: number): number;
  rename(from: DirectoryEntry, to: DirectoryEntry, flags: number): number;
  /** Gives an open file that has no name its first one. */
  linkFile(fd: number, to: DirectoryEntry): number;
  flock(fd: number, operation: number): number;
  /** Fills the buffer with raw directory records (`linux_dirent64`); answers their length, zero at the end. */
  readDirectory(fd: number, records: Uint8Array): number;
  /** An extended attribute of the name itself, put into the buffer; answers its length. `path` ends with a NUL. */
  readAttribute(path: Uint8Array, name: string, value: Uint8Array): number;
  /** Bytes of the names of all extended attributes of the name itself; zero: it has none. `path` ends with a NUL. */
  attributeBytes(path: Uint8Array): number;
  /** The same for an open file. */
  openAttributeBytes(fd: number): number;
}

export const RENAME_NOREPLACE = 1;
export const RENAME_EXCHANGE = 2;

const SYS_OPENAT2 = 437;
const SYS_RENAMEAT2: Readonly<Record<string, number>> = { x64: 316, arm64: 276, riscv64: 276, loong64: 276 };
const SYS_GETDENTS64: Readonly<Record<string, number>> = { x64: 217, arm64: 61, riscv64: 61, loong64: 61 };
const AT_FDCWD = -100;
const AT_SYMLINK_FOLLOW = 0x400;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_BENEATH = 0x08;
const OPEN_HOW_BYTES = 24;

/** Undefined where they cannot work; never throws. */
export function loadNativeCalls(): NativeCalls | undefined {
  if (process.platform !== 'linux' || endianness() !== 'LE' || SYS_RENAMEAT2[process.arch] === undefined) {
    return undefined;
  }
  try {
    return bindCalls(loadKoffi());
  } catch {
    // Not installed, or its binary does not fit this machine: the walk needs neither.
    return undefined;
  }
}

function bindCalls(koffi: Koffi): NativeCalls {
  const library = koffi.load(null);
  const openat2 = library.func('syscall', 'int', ['long', 'int', 'str', 'void *', 'size_t']);
  const renameat2 = bindRename(library);
  const linkat = library.func('linkat', 'int', ['int', 'str', 'int', 'str', 'int']);
  const flock = library.func('flock', 'int', ['int', 'int']);
  const getdents64 = library.func('syscall', 'int', ['long', 'int', 'void *', 'size_t']);
  const lgetxattr = library.func('lgetxattr', 'long', ['void *', 'str', 'void *', 'size_t']);
  const llistxattr = library.func('llistxattr', 'long', ['void *', 'void *', 'size_t']);
  const flistxattr = library.func('flistxattr', 'long', ['int', 'void *', 'size_t']);
  const settle = (result: number): number => (result === -1 ? -koffi.errno() : result);

  // struct open_how { u64 flags, mode, resolve }, as little-endian halves: filled in place, so an open allocates nothing.
  const how = new Uint32Array(OPEN_HOW_BYTES / Uint32Array.BYTES_PER_ELEMENT);
  how[4] = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return {
    openBeneath(dirFd, path, flags, mode) {
      how[0] = withStandingFlags(flags);
      how[2] = mode;
      return settle(openat2(SYS_OPENAT2, dirFd, path, how, OPEN_HOW_BYTES));
    },
    rename: (from, to, flags) => settle(renameat2(from.dirFd, from.name, to.dirFd, to.name, flags)),
    linkFile: (fd, to) => settle(linkat(AT_FDCWD, `/proc/self/fd/${fd}`, to.dirFd, to.name, AT_SYMLINK_FOLLOW)),
    flock: (fd, operation) => settle(flock(fd, operation)),
    readDirectory: (fd, records) => settle(getdents64(SYS_GETDENTS64[process.arch], fd, records, records.length)),
    readAttribute: (path, name, value) => settle(lgetxattr(path, name, value, value.length)),
    attributeBytes: (path) => settle(llistxattr(path, null, 0)),
    openAttributeBytes: (fd) => settle(flistxattr(fd, null, 0)),
  };
}

/** Older C libraries lack the wrapper; the call itself is older than openat2. */
function bindRename(library: NativeLibrary): NativeFunction {
  const parameters = ['int', 'str', 'int', 'str', 'uint'];
  try {
    return library.func('renameat2', 'int', parameters);
  } catch {
    const bySyscall = library.func('syscall', 'int', ['long', ...parameters]);
    return (...args) => bySyscall(SYS_RENAMEAT2[process.arch], ...args);
  }
}

/** Opens a path below `rootFd`. Throws an error with an errno `code`; EXDEV or ELOOP when the path would leave. */
export type OpenBeneath = (rootFd: number, path: string, flags: number, mode: number) => number;

/** The kernel gives up with EAGAIN when a rename anywhere made it unsure about a `..`. */
const MAX_ATTEMPTS = 32;
const { EAGAIN, EINTR } = osConstants.errno;

/**
 * Back end A: the kernel resolves the path and guarantees that it never leaves the root, whatever is renamed meanwhile.
 */
export function createOpenat2(native: NativeCalls): OpenBeneath {
  return (rootFd, path, flags, mode) => {
    const creationMode = (flags & constants.O_CREAT) === 0 ? 0 : mode;
    let result = native.openBeneath(rootFd, path, flags, creationMode);
    for (let attempt = 1; attempt < MAX_ATTEMPTS && (result === -EAGAIN || result === -EINTR); attempt++) {
      result = native.openBeneath(rootFd, path, flags, creationMode);
    }
    if (result < 0) throw errnoError(-result);
    return result;
  };
}

/** Old kernels answer ENOSYS and some container filters EPERM, so only a try tells. */
export function hasOpenat2(native: NativeCalls, rootFd: number): boolean {
  const fd = native.openBeneath(rootFd, '.', DIRECTORY_HANDLE, 0);
  if (fd >= 0) closeSync(fd);
  return fd >= 0;
}

/**
 * Every open gets these: no terminal taken over, no waiting for a FIFO's other end, nothing inherited by a child.
 * The kernel refuses all but close-on-exec beside O_PATH.
 */
export function withStandingFlags(flags: number): number {
  if ((flags & O_PATH) !== 0) return flags | O_CLOEXEC;
  return flags | O_CLOEXEC | constants.O_NONBLOCK | constants.O_NOCTTY;
}
