/**
 * The file capability of a session: one root, the host's extra roots, and what may be changed in them.
 *
 * Everything is resolved by descriptor at the moment of use; the strings that come in are checked for form only.
 * Reads and writes of small files answer without a promise.
 */
import { type BigIntStats, constants, fstatSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { EntryType, FileChange, FileStat, MaybePromise, Workspace, WriteOptions } from '../contracts/workspace.ts';
import { errnoCode } from './errno-error.ts';
import { PERMISSION_BITS, readContent } from './file-content.ts';
import { fileError } from './file-errors.ts';
import { openGuardedTarget } from './guarded-target.ts';
import { removeLeftovers } from './leftovers.ts';
import { createPlaces, type ExtraRoot, type Place } from './places.ts';
import { createProtectedNames, type ProtectedNames } from './protected-names.ts';
import { removeTarget } from './remove-file.ts';
import { replaceFile } from './replace-file.ts';
import { identityOf, type Root } from './root.ts';
import { findTarget, type WriteTarget } from './write-target.ts';

export type { ExtraRoot };

export interface WorkspaceOptions {
  /** Names besides `.git` that nothing may change, such as the registry file. */
  readonly protectedNames?: readonly string[];
  readonly readOnly?: boolean;
  readonly extraRoots?: readonly ExtraRoot[];
}

export interface FileWorkspace extends Workspace {
  /** Removes what a crash left directly inside `directory` (the root by default); answers how many files. */
  sweepLeftovers(directory?: string): number;
  /** Closes the extra roots. The root itself belongs to whoever opened it. */
  close(): void;
}

export function createWorkspace(root: Root, options: WorkspaceOptions = {}): FileWorkspace {
  const places = createPlaces(root, { readOnly: options.readOnly ?? false, extraRoots: options.extraRoots ?? [] });
  const guard = createProtectedNames(options.protectedNames);
  return {
    stat: (path) => explained(path, () => statPlace(places.find(path))),
    readFile: (path, readOptions) =>
      explained(path, () => {
        const place = places.find(path);
        return readContent(place.root.openBeneath(place.path, constants.O_RDONLY), readOptions);
      }),
    writeFile: (path, bytes, writeOptions = {}) =>
      explained(path, () => writePlace(places.find(path), guard, { bytes, options: writeOptions })),
    removeFile: (path) => explained(path, () => removePlace(places.find(path), guard)),
    lockKeys: (path) => explained(path, () => placeKeys(places.find(path))),
    sweepLeftovers: (directory = '.') =>
      explained(directory, () => {
        const place = places.find(directory);
        return place.isWritable ? removeLeftovers(place.root, place.path, Date.now()) : 0;
      }),
    close: places.close,
  };
}

/** System failures of `action`, thrown or rejected, become ToolErrors about `path`. */
function explained<T>(path: string, action: () => T): T {
  let result: T;
  try {
    result = action();
  } catch (thrown) {
    throw fileError(thrown, path);
  }
  if (!(result instanceof Promise)) return result;
  return result.catch((thrown: unknown) => {
    throw fileError(thrown, path);
  }) as T;
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
    type: entryType(stat),
    size: Number(stat.size),
    mode: Number(stat.mode) & PERMISSION_BITS,
    mtimeMs: Number(stat.mtimeNs) / 1e6,
    identity: identityOf(stat),
  };
}

function entryType(stat: BigIntStats): EntryType {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'symlink' : 'other';
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
    const result = replaceFile({ root: place.root, target, path: place.spelling, bytes, options });
    return afterwards(result, (done) => ({ path: place.spelling, ...done }));
  });
}

function removePlace(place: Place, guard: ProtectedNames): MaybePromise<FileChange | null> {
  const target = openGuardedTarget(place, guard, { followLast: false, missingFolders: 'leave' });
  return closing(target, () =>
    afterwards(removeTarget(target), (before) =>
      before === null ? null : { path: place.spelling, before, after: null },
    ),
  );
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

/**
 * The name in its real directory and the file behind it, so that every spelling meets at one key. The spelling itself
 * is a key too: while missing folders are being made, the real directory of one name is not the same for all callers.
 */
function placeKeys({ root, path }: Place): readonly string[] {
  const target = findTarget(root, path, { followLast: true });
  try {
    const directory = identityOf(fstatSync(target.dirFd, { bigint: true }));
    const keys = [`path:${root.identity}:${path}`, `name:${directory}:${[...target.missing, target.name].join('/')}`];
    if (target.existing !== undefined) keys.push(`file:${identityOf(target.existing)}`);
    return keys;
  } finally {
    target.close();
  }
}
