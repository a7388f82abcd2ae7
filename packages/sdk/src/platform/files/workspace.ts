/**
 * The file capability of a session: one root, the host's extra roots, and what may be changed in them.
 *
 * Everything is resolved by descriptor at the moment of use; the strings that come in are checked for form only.
 * Reads and writes of small files answer without a promise.
 */

import type { PathRule } from '../../contracts/path-rule.ts';
import type {
  FileChange,
  FileSnapshot,
  MaybePromise,
  RemoveFileOptions,
  SessionWorkspace,
  Workspace,
  WriteOptions,
} from '../../contracts/workspace.ts';
import { createDisk, createFullDisk, type Disk } from '../descriptors/disk.ts';
import { explained } from '../descriptors/file-errors.ts';
import { createPlaces, type Enclosing, type ExtraRoot, type Place, type Places } from '../descriptors/places.ts';
import type { Root } from '../descriptors/root.ts';
import { foldersOf } from '../descriptors/write-target.ts';
import { createGoverningFiles, type GoverningFiles } from '../protection/governing-files.ts';
import { openGuardedTarget } from '../protection/guarded-target.ts';
import { locatePlace } from '../protection/judge-place.ts';
import { createFileTree } from '../search/file-tree.ts';
import type { UnfinishedFolders } from '../state/unfinished-folders.ts';
import { changedMeanwhile } from './changed-meanwhile.ts';
import { createFolderSweep, sweepDirectory, sweepFolders } from './leftovers.ts';
import { placeKeys } from './place-keys.ts';
import { readPlace, statPlace } from './read-place.ts';
import { removeTarget } from './remove-entry.ts';
import { checkMode, replaceFile, tellPlace } from './replace-file.ts';
import { createTreeOperations } from './tree-operations.ts';

export type { ExtraRoot };

export interface WorkspaceOptions {
  /** What decides over tools. Default: the names that are protected everywhere. */
  readonly governing?: GoverningFiles;
  readonly readOnly?: boolean;
  readonly extraRoots?: readonly ExtraRoot[];
  /** How far changes get before they are answered. Default: to the kernel. */
  readonly disk?: Disk;
  /** Where path rules start from, when the root is a folder of another workspace. */
  readonly enclosing?: Enclosing;
  /** Where processes that died may have left something. */
  readonly unfinished?: Pick<UnfinishedFolders, 'workOff'>;
}

/** Where changes are made, and what may not be changed there. */
export interface CommitGround {
  /** Throws E_POLICY for a path that leaves. */
  find(path: string, rule?: PathRule): Place;
  readonly guard: GoverningFiles;
}

export interface FileWorkspace extends SessionWorkspace {
  /** Removes what a crash left directly inside `directory` (the root by default); answers how many names. */
  sweepLeftovers(directory?: string): Promise<number>;
  /** The same in all folders that processes noted before they died. */
  sweepNoted(): Promise<void>;
  readonly ground: CommitGround;
  /** Closes the extra roots. The root itself belongs to the caller. */
  close(): void;
}

export function createWorkspace(root: Root, options: WorkspaceOptions = {}): FileWorkspace {
  const { readOnly = false, extraRoots = [], enclosing, disk = createDisk() } = options;
  const guard = options.governing ?? createGoverningFiles();
  for (const { path } of extraRoots) explained(path, () => guard.checkRoot(path));
  const places = createPlaces(root, { readOnly, extraRoots, disk, ...(enclosing === undefined ? {} : { enclosing }) });
  const tree = createFileTree(root, { secrets: () => guard.secretsIn(root) });
  const sweepNoted = async () => options.unfinished?.workOff((folders) => sweepFolders(places.writableRoots, folders));
  const files: Files = { places, tree, guard, sweepSometimes: createFolderSweep(sweepNoted) };
  return {
    rootPath: root.path,
    ...filesUnder(files, undefined),
    under: (rule) => filesUnder(files, rule),
    locate: (path, links) => explained(path, () => locatePlace(places.find(path), links === 'through')),
    sweepLeftovers: async (directory = '.') =>
      explained(directory, () => {
        const place = places.find(directory);
        return place.isWritable ? sweepDirectory(place.root, place.path, Date.now()) : 0;
      }),
    sweepNoted,
    ground: { find: places.find, guard },
    close: places.close,
  };
}

interface Files {
  readonly places: Places;
  readonly tree: ReturnType<typeof createFileTree>;
  readonly guard: GoverningFiles;
  /** Removes what killed writes left beside the place, now and then. */
  readonly sweepSometimes: (place: Place) => void;
}

function filesUnder({ places, tree, guard, sweepSometimes }: Files, rule: PathRule | undefined): Workspace {
  const find = (path: string): Place => places.find(path, rule);
  return {
    stat: (path) => explained(path, () => statPlace(find(path))),
    readFile: (path, readOptions) => explained(path, () => readPlace(find(path), guard, readOptions)),
    writeFile: (path, bytes, writeOptions = {}) =>
      explained(path, () => {
        const place = find(path);
        sweepSometimes(place);
        return writePlace(place, guard, { bytes, options: writeOptions });
      }),
    removeFile: (path, removeOptions = {}) => explained(path, () => removePlace(find(path), guard, removeOptions)),
    list: (query) => explained('.', () => tree.list(query)),
    search: (query) => explained('.', () => tree.search(query)),
    lockKeys: (path) => explained(path, () => placeKeys(find(path))),
    requireAllowed: (path, access, links = 'through') =>
      explained(path, () => rule?.check({ ...locatePlace(find(path), links === 'through'), access })),
    ...createTreeOperations(find, guard),
  };
}

function writePlace(
  place: Place,
  guard: GoverningFiles,
  { bytes, options }: { bytes: Uint8Array; options: WriteOptions },
): MaybePromise<FileChange> {
  checkMode(options.mode);
  const target = openGuardedTarget(place, guard, {
    followLast: options.exclusive !== true,
    missingFolders: options.createDirs ? 'create' : 'refuse',
  });
  const disk = options.durable === true ? createFullDisk() : place.disk;
  return closing(target, () => {
    if (options.watch !== undefined) tellPlace(options.watch, place, target);
    const replace = () => replaceFile({ root: place.root, disk, target, path: place.spelling, bytes, options });
    // "Must not exist" needs no lock: the rename itself refuses to replace.
    const result = typeof options.expectedSha256 === 'string' ? place.root.lock.run(target.dirFd, replace) : replace();
    return afterwards(result, (done) => ({ path: place.spelling, ...done }));
  });
}

function removePlace(place: Place, guard: GoverningFiles, options: RemoveFileOptions): MaybePromise<FileChange | null> {
  const { expectedSha256: expected, watch } = options;
  const target = openGuardedTarget(place, guard, { followLast: false, missingFolders: 'leave' });
  const check = (before: FileSnapshot | null): void => {
    const actual = before?.sha256 ?? null;
    if (expected !== undefined && expected !== actual) throw changedMeanwhile(place.spelling, { expected, actual });
  };
  return closing(target, () => {
    if (watch !== undefined && target.existing !== undefined) tellPlace(watch, place, target);
    const remove = () => removeTarget(target, check, options);
    const removed = expected === undefined ? remove() : place.root.lock.run(target.dirFd, remove);
    return afterwards(removed, (before) => {
      const change = before === null ? null : { path: place.spelling, before, after: null };
      return afterwards(place.disk.settle(foldersOf(target)), () => change);
    });
  });
}

function afterwards<T, U>(result: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return result instanceof Promise ? result.then(next) : next(result);
}

/** Closes the target when `action` is over, now or later. */
function closing<T>(target: { close(): void }, action: () => MaybePromise<T>): MaybePromise<T> {
  let result: MaybePromise<T> | undefined;
  try {
    result = action();
    return result instanceof Promise ? result.finally(target.close) : result;
  } finally {
    if (!(result instanceof Promise)) target.close();
  }
}
