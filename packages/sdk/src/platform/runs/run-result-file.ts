/**
 * `result.json` in a held run folder: read with a limit, written whole or not at all.
 *
 * What lies there was written by a program that may be hostile: it may be a link, a pipe, a folder or endless, and the
 * folder itself may have been closed to us. None of that is followed, waited for or trusted.
 */
import { closeSync, constants, fstatSync, fsyncSync, readSync, writeFileSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { RunFile } from '../../contracts/external.ts';
import {
  openEntry,
  renameEntry,
  reopenDirectory,
  setDirectoryMode,
  statEntry,
} from '../descriptors/directory-entry.ts';
import type { HeldFolder } from '../descriptors/held-path.ts';
import { plainRename } from '../descriptors/rename-entry.ts';
import { errnoCode } from '../errno-error.ts';
import { createTemporaryFile, type TemporaryRoot, temporaryName } from '../files/temporary-file.ts';

const RESULT_NAME = 'result.json';
const ORIGINAL_NAME = 'result.json.tool';
const RESULT_MODE = 0o644;
const OWNER_ACCESS = 0o700;

/** A single name in the folder. A link, a pipe and a file with a second name elsewhere count as unreadable. */
export function readRunFile({ dirFd }: HeldFolder, name: string, maxBytes: number): RunFile {
  let fd: number;
  try {
    allowAccess(dirFd);
    fd = openEntry({ dirFd, name }, constants.O_RDONLY);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return errnoCode(thrown) === 'ENOENT' ? 'missing' : 'unreadable';
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.nlink > 1) return 'unreadable';
    return stat.size > maxBytes ? 'too_large' : readBounded(fd, stat.size, maxBytes);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return 'unreadable';
  } finally {
    closeSync(fd);
  }
}

/** One byte more than the file had when it was opened, so that one that grows meanwhile is noticed. */
function readBounded(fd: number, size: number, maxBytes: number): RunFile {
  const buffer = Buffer.allocUnsafe(Math.min(size, maxBytes) + 1);
  let filled = 0;
  while (filled < buffer.length) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  if (filled <= size) return buffer.subarray(0, filled);
  return filled > maxBytes ? 'too_large' : 'unreadable';
}

/** A run folder lies in the state folder, where no sweep is needed: it goes as a whole. */
const PLAIN: TemporaryRoot = { rename: plainRename, linkFile: undefined, noteFolder: undefined };

/** Throws E_POLICY when the name is taken by a link or anything but a file, E_FILE_IO when the disk fails. */
export function writeResultAtomic({ dirFd }: HeldFolder, text: string): void {
  const target = { dirFd, name: RESULT_NAME };
  try {
    allowAccess(dirFd);
    const existing = statEntry(target);
    if (existing !== undefined && !existing.isFile()) throw notAFile();
    const draft = createTemporaryFile(dirFd, PLAIN, { mode: RESULT_MODE });
    try {
      writeFileSync(draft.fd, text);
      fsyncSync(draft.fd);
      draft.publish(target, 'replace');
    } catch (thrown) {
      draft.discard();
      throw thrown;
    }
    closeSync(draft.fd);
    syncFolder(dirFd);
  } catch (thrown) {
    throw explain(thrown);
  }
}

/**
 * Puts the tool's own file aside, whatever it is, and answers its new name; undefined when there is none. The name is
 * another only when the tool has taken that one with a folder.
 */
export function keepOriginal({ dirFd }: HeldFolder): string | undefined {
  const from = { dirFd, name: RESULT_NAME };
  try {
    allowAccess(dirFd);
    if (statEntry(from) === undefined) return undefined;
    const taken = statEntry({ dirFd, name: ORIGINAL_NAME });
    const isFree = taken === undefined || (!taken.isDirectory() && statEntry(from)?.isDirectory() === false);
    const name = isFree ? ORIGINAL_NAME : `${ORIGINAL_NAME}${temporaryName()}`;
    renameEntry(from, { dirFd, name });
    return name;
  } catch (thrown) {
    throw explain(thrown);
  }
}

/** The tool owns the folder too and may have taken our permission away. */
function allowAccess(dirFd: number): void {
  if ((fstatSync(dirFd).mode & OWNER_ACCESS) !== OWNER_ACCESS) setDirectoryMode(dirFd, OWNER_ACCESS);
}

/** After the rename: not every file system can, and the result is there either way. */
function syncFolder(dirFd: number): void {
  try {
    const fd = reopenDirectory(dirFd, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
  }
}

function explain(thrown: unknown): unknown {
  const code = errnoCode(thrown);
  if (code === undefined) return thrown;
  if (code === 'EISDIR' || code === 'ELOOP') return notAFile();
  return new ToolError('E_FILE_IO', `Result cannot be written: ${code}`, { details: { reason: code }, cause: thrown });
}

function notAFile(): ToolError {
  return new ToolError('E_POLICY', `Result is not a regular file: ${RESULT_NAME}`, {
    details: { reason: 'not_regular', next: 'Set aside what the tool put there before writing' },
  });
}
