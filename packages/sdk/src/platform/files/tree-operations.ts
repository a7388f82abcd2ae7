/** The part of the workspace that concerns folders: listing and making one, and moving, copying, removing whole trees. */
import { closeSync, constants } from 'node:fs';
import { isTemporaryName } from '../../contracts/path-text.ts';
import type { DirectoryItem, FileChange, MoveOptions, TreeChange, Workspace } from '../../contracts/workspace.ts';
import { throwIfAborted } from '../cancellation.ts';
import {
  type DirectoryEntry,
  makeDirectory,
  mayChange,
  removeFile,
  statEntry,
} from '../descriptors/directory-entry.ts';
import { findNames, listEntries } from '../descriptors/directory-reader.ts';
import { explained, sourceRemains } from '../descriptors/file-errors.ts';
import { type Place, requireWritable } from '../descriptors/places.ts';
import { identityOf } from '../descriptors/root.ts';
import { foldersOf } from '../descriptors/write-target.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import type { GoverningFiles } from '../protection/governing-files.ts';
import { judgePlace, openGuardedTarget } from '../protection/judge-place.ts';
import { copyEntry, copyToTarget } from './copy-entry.ts';
import { type Transfer, type TransferJob, withTransfer } from './prepare-transfer.ts';
import { removeEntry } from './remove-entry.ts';
import { removeAside, setAside } from './remove-tree.ts';
import { replaceFolder } from './replace-file.ts';
import { snapshotEntry, snapshotWithoutContent } from './snapshot-entry.ts';
import { operandPath } from './tree-operand.ts';

type TreeOperations = Pick<Workspace, 'readDirectory' | 'makeDirectory' | 'move' | 'copy' | 'remove'>;

const NEW_FOLDER_MODE = 0o777;

export function createTreeOperations(find: (path: string) => Place, guard: GoverningFiles): TreeOperations {
  return {
    readDirectory: (path) => explained(path, () => readPlace(find(path))),
    makeDirectory: (path) => explained(path, () => makePlace(find(path), guard)),
    move: async (from, to, options) => moveEntry({ from: find(from), to: find(to), guard, options }),
    copy: async (from, to, options) => copyEntry({ from: find(from), to: find(to), guard, options }),
    remove: async (path, options) => removeEntry({ place: find(path), guard, options }),
  };
}

async function readPlace(place: Place): Promise<readonly DirectoryItem[]> {
  const dirFd = place.root.openBeneath(place.path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    judgePlace(place, { dirFd, below: [] }, 'read');
    const listed = await listEntries(dirFd);
    return listed.filter(({ name }) => !isTemporaryName(name)).map(({ name, type }) => ({ name: String(name), type }));
  } finally {
    closeSync(dirFd);
  }
}

async function makePlace(place: Place, guard: GoverningFiles): Promise<FileChange | null> {
  requireWritable(place);
  if (isFolder(place)) return null;
  const target = openGuardedTarget(place, guard, { followLast: true, acceptsFolder: true, missingFolders: 'create' });
  try {
    if (!makeDirectory(target, NEW_FOLDER_MODE)) return null;
    const made = statEntry(target);
    if (made === undefined) throw new ErrnoError('EAGAIN');
    await place.disk.settle(foldersOf(target));
    return { path: operandPath(place), before: null, after: snapshotWithoutContent(made, 0) };
  } finally {
    target.close();
  }
}

/** EEXIST when something else has the name. */
function isFolder({ root, path }: Place): boolean {
  try {
    closeSync(root.openBeneath(path, DIRECTORY_HANDLE));
    return true;
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === 'ENOENT') return false;
    throw thrown;
  }
}

const NOTHING_CHANGED: TreeChange = { changes: [], entries: 0, bytes: 0 };

/**
 * Moving: one rename, whatever the size. Across file systems it is a copy that gets its name in one step, and the
 * source is removed last: killed in between, both are there and whole.
 */
function moveEntry(job: TransferJob<MoveOptions>): Promise<TreeChange> {
  const { signal } = job.options;
  return withTransfer<TreeChange>(job, {
    purpose: 'move',
    same: () => NOTHING_CHANGED,
    async perform(transfer) {
      const { source, survey, replaced } = transfer;
      const moved = await snapshotEntry(source, { bytes: survey.bytes, signal });
      throwIfAborted(signal);
      await moveToTarget(transfer, signal);
      return {
        changes: [
          { path: transfer.sourcePath, before: moved, after: null },
          { path: transfer.targetPath, before: replaced?.snapshot ?? null, after: moved },
        ],
        ...survey,
      };
    },
  });
}

async function moveToTarget(transfer: Transfer, signal: AbortSignal | undefined): Promise<void> {
  let aside: DirectoryEntry | undefined;
  try {
    aside = await renameToTarget(transfer);
  } catch (thrown) {
    // Another file system, or layers of one that cannot rename between each other.
    if (errnoCode(thrown) !== 'EXDEV') throw thrown;
    await copyAndRemove(transfer, signal);
    return;
  }
  // The move is done; what cannot be removed of the replaced folder is left to the sweep.
  if (aside !== undefined) await removeAside(aside, signal);
}

/** Answers where the replaced folder lies, if there was one. */
async function renameToTarget({ root, source, target, replaced }: Transfer): Promise<DirectoryEntry | undefined> {
  if (replaced === undefined) {
    root.rename(source, target, 'noreplace');
    return undefined;
  }
  if (source.stat.isDirectory()) {
    return replaceFolder({ root, from: source, to: target, replaced: identityOf(replaced.stat) });
  }
  root.rename(source, target, 'replace');
  if (identityOf(source.stat) === identityOf(replaced.stat)) await dropSecondName(source, target);
  return undefined;
}

/**
 * Renaming one name of a file to another name of it does nothing. Both must be listed before one goes: where case does
 * not count, two spellings can be one name, and removing that would remove the file.
 */
async function dropSecondName(from: DirectoryEntry, to: DirectoryEntry): Promise<void> {
  const isListed = async ({ dirFd, name }: DirectoryEntry) =>
    (await findNames(dirFd, (other) => other === name)).length > 0;
  if ((await isListed(from)) && (await isListed(to))) removeFile(from);
}

async function copyAndRemove(transfer: Transfer, signal: AbortSignal | undefined): Promise<void> {
  const { root, source, sourcePath } = transfer;
  if (!mayChange(source.dirFd)) throw new ErrnoError('EACCES');
  await copyToTarget(transfer, { preserveMode: true, ...(signal === undefined ? {} : { signal }) });
  try {
    if (source.stat.isDirectory()) await removeAside(setAside(root, source, identityOf(source.stat)), signal);
    else removeFile(source);
  } catch (thrown) {
    throw sourceRemains(sourcePath, thrown);
  }
}
