/** The part of the workspace that concerns folders: listing and making one, and moving, copying, removing whole trees. */

import { closeSync, constants } from 'node:fs';
import { isTemporaryName } from '../../contracts/path-text.ts';
import type { DirectoryItem, FileChange, Workspace } from '../../contracts/workspace.ts';
import { makeDirectory, statEntry } from '../descriptors/directory-entry.ts';
import { explained } from '../descriptors/file-errors.ts';
import { listEntries } from '../descriptors/list-directory.ts';
import { type Place, requireWritable } from '../descriptors/places.ts';
import { foldersOf } from '../descriptors/write-target.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import type { GoverningFiles } from '../protection/governing-files.ts';
import { openGuardedTarget } from '../protection/guarded-target.ts';
import { judgePlace } from '../protection/judge-place.ts';
import { copyEntry } from './copy-entry.ts';
import { moveEntry } from './move-entry.ts';
import { removeEntry } from './remove-entry.ts';
import { snapshotWithoutContent } from './snapshot-entry.ts';
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
