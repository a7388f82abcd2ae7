/** The open(2) flags Node does not name. The values below are the same on every 64-bit Linux that Node ships for. */
import { constants } from 'node:fs';

export const O_PATH = 0o10000000;
/** A file without a name, in the folder that is opened. */
export const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
export const O_CLOEXEC = 0o2000000;

/** A descriptor that names a directory and reads nothing: what `*at`-style steps start from. */
export const DIRECTORY_HANDLE = O_PATH | constants.O_DIRECTORY;
