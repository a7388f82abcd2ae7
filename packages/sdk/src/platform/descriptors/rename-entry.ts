/**
 * Renames between held directories: replacing, refusing to replace, or exchanging two names.
 *
 * The kernel's own flags do each in one step. Without them a file is linked to its new name first, which fails when
 * the name exists, and a folder takes the place of an empty one made for it, which fails when someone filled that.
 * Killed in between, the file has both names, or the new name is an empty folder.
 */

import { ErrnoError, errnoCode, errnoError } from '../errno-error.ts';
import {
  type DirectoryEntry,
  linkEntry,
  makeDirectory,
  removeDirectory,
  removeFile,
  renameEntry,
  statEntry,
} from './directory-entry.ts';
import { type NativeCalls, RENAME_EXCHANGE, RENAME_NOREPLACE } from './native-calls.ts';

export type RenameMode = 'replace' | 'noreplace' | 'exchange';

/** `noreplace`: EEXIST when the name is taken. `exchange`: ENOTSUP where it cannot be done in one step. */
export type Rename = (from: DirectoryEntry, to: DirectoryEntry, mode: RenameMode) => void;

const RENAME_FLAGS: Readonly<Record<RenameMode, number>> = {
  replace: 0,
  noreplace: RENAME_NOREPLACE,
  exchange: RENAME_EXCHANGE,
};

/** Folders, files of other owners under some kernel settings, file systems without links. */
const CANNOT_BE_LINKED = new Set<string | undefined>(['EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP']);
const TAKEN_MEANWHILE = new Set<string | undefined>(['ENOTEMPTY', 'ENOTDIR', 'EEXIST']);
const PLACEHOLDER_MODE = 0o700;

export function nativeRename(native: NativeCalls): Rename {
  return (from, to, mode) => {
    const result = native.rename(from, to, RENAME_FLAGS[mode]);
    if (result === 0) return;
    const failed = errnoError(-result);
    // Some file systems (NFS, older FUSE) know no flags.
    if (failed.code === 'EINVAL' && mode !== 'replace') plainRename(from, to, mode);
    else throw failed;
  };
}

export const plainRename: Rename = (from, to, mode) => {
  if (mode === 'exchange') throw new ErrnoError('ENOTSUP');
  if (mode === 'replace') renameEntry(from, to);
  else renameToFreeName(from, to);
};

function renameToFreeName(from: DirectoryEntry, to: DirectoryEntry): void {
  try {
    linkEntry(from, to);
  } catch (thrown) {
    if (!CANNOT_BE_LINKED.has(errnoCode(thrown))) throw thrown;
    renameUnlinkable(from, to);
    return;
  }
  try {
    removeFile(from);
  } catch (thrown) {
    removeFile(to);
    throw thrown;
  }
}

function renameUnlinkable(from: DirectoryEntry, to: DirectoryEntry): void {
  if (statEntry(from)?.isDirectory() !== true) {
    if (statEntry(to) !== undefined) throw new ErrnoError('EEXIST');
    renameEntry(from, to);
    return;
  }
  if (!makeDirectory(to, PLACEHOLDER_MODE)) throw new ErrnoError('EEXIST');
  try {
    renameEntry(from, to);
  } catch (thrown) {
    if (TAKEN_MEANWHILE.has(errnoCode(thrown))) throw new ErrnoError('EEXIST');
    removePlaceholder(to);
    throw thrown;
  }
}

function removePlaceholder(entry: DirectoryEntry): void {
  try {
    removeDirectory(entry);
  } catch {
    // Filled or removed by someone else: theirs now.
  }
}
