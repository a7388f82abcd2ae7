/** Back end A: the kernel resolves the path and guarantees that it never leaves the root, whatever is renamed meanwhile. */
import { closeSync, constants } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { errnoError } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import type { NativeCalls } from './native-calls.ts';

/** Opens a path below `rootFd`. Throws an error with an errno `code`; EXDEV or ELOOP when the path would leave. */
export type OpenBeneath = (rootFd: number, path: string, flags: number, mode: number) => number;

/** The kernel gives up with EAGAIN when a rename anywhere made it unsure about a `..`. */
const MAX_ATTEMPTS = 32;
const { EAGAIN, EINTR } = osConstants.errno;

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
