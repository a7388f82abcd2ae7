/**
 * The file capability of a session: one root, the host's extra roots, and what may be changed in them.
 *
 * Everything is resolved by descriptor at the moment of use; the strings that come in are checked for form only.
 * Reads and writes of small files answer without a promise.
 */
import { type BigIntStats, constants } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type {
  FileChange,
  FileSnapshot,
  FileStat,
  MaybePromise,
  RemoveFileOptions,
  Workspace,
  WriteOptions,
} from '../contracts/workspace.ts';
import { changedMeanwhile } from './changed-meanwhile.ts';
import { typeOf } from './directory-entry.ts';
import { errnoCode } from './errno-error.ts';
import { PERMISSION_BITS, readContent } from './file-content.ts';
import { explained } from './file-errors.ts';
import { createFileTree } from './file-tree.ts';
import { openGuardedTarget } from './guarded-target.ts';
import { createFolderSweep, sweepDirectory } from './leftovers.ts';
import { placeKeys } from './place-keys.ts';
import { createPlaces, type ExtraRoot, type Place } from './places.ts';
import { createProtectedNames, type ProtectedNames } from './protected-names.ts';
import { removeTarget } from './remove-file.ts';
import { replaceFile } from './replace-file.ts';
import { identityOf, type Root } from './root.ts';
import { createTreeOperations } from './tree-operations.ts';
import type { WriteTarget } from './write-target.ts';

export type { ExtraRoot };

export interface WorkspaceOptions {
  /** Names besides `.git` that nothing may change, such as the registry file. */
  readonly protectedNames?: readonly string[];
  readonly readOnly?: boolean;
  readonly extraRoots?: readonly ExtraRoot[];
}

export interface FileWorkspace extends Workspace {
  /** Removes what a crash left directly inside `directory` (the root by default); answers how many names. */
  sweepLeftovers(directory?: string): Promise<number>;
  /** Closes the extra roots. The root itself belongs to whoever opened it. */
  close(): void;
}

export function createWorkspace(root: Root, options: WorkspaceOptions = {}): FileWorkspace {
  const places = createPlaces(root, { readOnly: options.readOnly ?? false, extraRoots: options.extraRoots ?? [] });
  const guard = createProtectedNames(options.protectedNames);
  const tree = createFileTree(root);
  const sweepSometimes = createFolderSweep();
  return {
    stat: (path) => explained(path, () => statPlace(places.find(path))),
    readFile: (path, readOptions) =>
      explained(path, () => {
        const place = places.find(path);
        return readContent(place.root.openBeneath(place.path, constants.O_RDONLY), readOptions);
      }),
    writeFile: (path, bytes, writeOptions = {}) =>
      explained(path, () => {
        const place = places.find(path);
        sweepSometimes(place);
        return writePlace(place, guard, { bytes, options: writeOptions });
      }),
    removeFile: (path, removeOptions = {}) =>
      explained(path, () => removePlace(places.find(path), guard, removeOptions)),
    list: (query) => explained('.', () => tree.list(query)),
    search: (query) => explained('.', () => tree.search(query)),
    lockKeys: (path) => explained(path, () => placeKeys(places.find(path))),
    sweepLeftovers: async (directory = '.') =>
      explained(directory, () => {
        const place = places.find(directory);
        return place.isWritable ? sweepDirectory(place.root, place.path, Date.now()) : 0;
      }),
    ...createTreeOperations(places, guard),
    close: places.close,
  };
}

function statPlace({ root, path }: Place): FileStat | null {
  let stat: BigIntStats;
  try {
    stat = root.statBeneath(path);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw thrown;
  }
  return {
    type: typeOf(stat),
    size: Number(stat.size),
    mode: Number(stat.mode) & PERMISSION_BITS,
    mtimeMs: Number(stat.mtimeNs) / 1e6,
    identity: identityOf(stat),
  };
}

function writePlace(
  place: Place,
  guard: ProtectedNames,
  { bytes, options }: { bytes: Uint8Array; options: WriteOptions },
): MaybePromise<FileChange> {
  checkMode(options.mode);
  const target = openGuardedTarget(place, guard, {
    followLast: options.exclusive !== true,
    missingFolders: options.createDirs ? 'create' : 'refuse',
  });
  return closing(target, () => {
    const replace = () => replaceFile({ root: place.root, target, path: place.spelling, bytes, options });
    // "Must not exist" needs no lock: the rename itself refuses to replace.
    const result = typeof options.expectedSha256 === 'string' ? place.root.lock.run(target.dirFd, replace) : replace();
    return afterwards(result, (done) => ({ path: place.spelling, ...done }));
  });
}

function removePlace(
  place: Place,
  guard: ProtectedNames,
  { expectedSha256: expected }: RemoveFileOptions,
): MaybePromise<FileChange | null> {
  const target = openGuardedTarget(place, guard, { followLast: false, missingFolders: 'leave' });
  const check = (before: FileSnapshot | null): void => {
    const actual = before?.sha256 ?? null;
    if (expected !== undefined && expected !== actual) throw changedMeanwhile(place.spelling, { expected, actual });
  };
  return closing(target, () => {
    const remove = () => removeTarget(target, check);
    const removed = expected === undefined ? remove() : place.root.lock.run(target.dirFd, remove);
    return afterwards(removed, (before) => (before === null ? null : { path: place.spelling, before, after: null }));
  });
}

function afterwards<T, U>(result: MaybePromise<T>, next: (value: T) => U): MaybePromise<U> {
  return result instanceof Promise ? result.then(next) : next(result);
}

/** Closes the target when `action` is over, now or later. */
function closing<T>(target: WriteTarget, action: () => MaybePromise<T>): MaybePromise<T> {
  let result: MaybePromise<T> | undefined;
  try {
    result = action();
    return result instanceof Promise ? result.finally(target.close) : result;
  } finally {
    if (!(result instanceof Promise)) target.close();
  }
}

function checkMode(mode: number | undefined): void {
  if (mode === undefined || (mode & ~PERMISSION_BITS) === 0) return;
  throw new ToolError('E_VALIDATION_FAIL', `File mode holds set-id or sticky bits: ${mode.toString(8)}`, {
    path: 'mode',
    details: { next: 'Use permission bits only, such as 644' },
  });
}
