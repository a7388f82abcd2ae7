/**
 * The file capability of a session: one root, the host's extra roots, and what may be changed in them.
 *
 * Everything is resolved by descriptor at the moment of use; the strings that come in are checked for form only.
 * Reads and writes of small files answer without a promise.
 */
import { type BigIntStats, closeSync, constants, fstatSync } from 'node:fs';
import type { WorkspaceOverlay } from '../../contracts/commands.ts';
import type { PathRule } from '../../contracts/path-text.ts';
import type {
  FileChange,
  FileContent,
  FileSnapshot,
  FileStat,
  MaybePromise,
  ReadOptions,
  RemoveFileOptions,
  SessionWorkspace,
  Workspace,
  WriteOptions,
} from '../../contracts/workspace.ts';
import { readLinkBytes, typeOf } from '../descriptors/directory-entry.ts';
import { createDisk, createFullDisk, type Disk } from '../descriptors/disk.ts';
import { PERMISSION_BITS, readContent } from '../descriptors/file-content.ts';
import { explained } from '../descriptors/file-errors.ts';
import { splitPath } from '../descriptors/path-rules.ts';
import { createPlaces, type Enclosing, type ExtraRoot, type Place, type Places } from '../descriptors/places.ts';
import { identityOf, type Root } from '../descriptors/root.ts';
import { findTarget, foldersOf, type WriteTarget } from '../descriptors/write-target.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { createGoverningFiles, type GoverningFiles } from '../protection/governing-files.ts';
import { judgePlace, locatePlace, openGuardedTarget, openJudged } from '../protection/judge-place.ts';
import { createFileTree } from '../search/file-tree.ts';
import type { UnfinishedFolders } from '../state/unfinished-folders.ts';
import { createFolderSweep, sweepDirectory, sweepFolders } from './leftovers.ts';
import { removeTarget } from './remove-entry.ts';
import { checkMode, replaceFile, tellPlace } from './replace-file.ts';
import { changedMeanwhile } from './snapshot-entry.ts';
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
  /** For the root of a transaction: the overlay it is on, if any, and where the workspace is that it stands for. */
  readonly staged?: { readonly overlay: WorkspaceOverlay | undefined; readonly path: string };
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
  const tree = createFileTree(root, { secrets: () => guard.secretsIn(root), overlay: options.staged?.overlay });
  const sweepNoted = async () => options.unfinished?.workOff((folders) => sweepFolders(places.writableRoots, folders));
  const files: Files = { places, tree, guard, sweepSometimes: createFolderSweep(sweepNoted) };
  return {
    rootPath: options.staged?.path ?? root.path,
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

/**
 * By which keys a path is locked.
 *
 * The name in its real directory and the file behind it, so that every spelling meets at one key. A link has the keys
 * of its own name and those of what it leads to. The spelling itself is a key too: while missing folders are being
 * made, the real directory of one name is not the same for all callers.
 */
function placeKeys(place: Place): readonly string[] {
  const { root, path } = place;
  const { components } = splitPath(path);
  const spelling = `path:${root.identity}:${components.join('/')}`;
  const name = components.at(-1);
  if (name === undefined || name === '..') return [spelling, folderKey(place)];
  const target = findTarget(root, path, { followLast: false, acceptsFolder: true });
  try {
    const keys = [spelling, ...targetKeys(target)];
    return target.existing?.isSymbolicLink() === true ? [...keys, ...keysBehindLink(place)] : keys;
  } finally {
    target.close();
  }
}

function targetKeys(target: WriteTarget): string[] {
  const directory = identityOf(fstatSync(target.dirFd, { bigint: true }));
  const name = `name:${directory}:${[...target.missing, target.name].join('/')}`;
  return target.existing === undefined ? [name] : [name, `file:${identityOf(target.existing)}`];
}

function keysBehindLink({ root, path }: Place): string[] {
  let target: WriteTarget;
  try {
    target = findTarget(root, path, { followLast: true, acceptsFolder: true });
  } catch (thrown) {
    // A link that leads nowhere inside can itself be moved or removed, and nothing is written through it.
    if (errnoCode(thrown) !== undefined) return [];
    throw thrown;
  }
  try {
    return targetKeys(target);
  } finally {
    target.close();
  }
}

function folderKey({ root, path }: Place): string {
  const dirFd = root.openBeneath(path, DIRECTORY_HANDLE);
  try {
    return `file:${identityOf(fstatSync(dirFd, { bigint: true }))}`;
  } finally {
    closeSync(dirFd);
  }
}

/**
 * Looking at one place: what is there, and what a file holds. Path rules are asked while the place is held open.
 */
function readPlace(place: Place, guard: GoverningFiles, options: ReadOptions | undefined): MaybePromise<FileContent> {
  const fd = openJudged(place, constants.O_RDONLY);
  try {
    guard.checkRead(place.root, fd, place.spelling);
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
  return readContent(fd, options);
}

function statPlace(place: Place): FileStat | null {
  let stat: BigIntStats | undefined;
  try {
    stat = place.ruling?.rule === undefined ? place.root.statBeneath(place.path) : statJudged(place);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw thrown;
  }
  if (stat === undefined) return null;
  return {
    type: typeOf(stat),
    size: Number(stat.size),
    mode: Number(stat.mode) & PERMISSION_BITS,
    mtimeMs: Number(stat.mtimeNs) / 1e6,
    identity: identityOf(stat),
    ...(stat.isSymbolicLink() ? linkText(place) : {}),
  };
}

/** Nothing when the link is gone by now; bytes that are no UTF-8 are replaced, because nothing opens this text. */
function linkText({ root, path }: Place): { readonly target?: string } {
  const entry = findTarget(root, path, { followLast: false, acceptsFolder: true });
  try {
    return { target: readLinkBytes(entry).toString('utf8') };
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === 'EINVAL' || code === 'ENOENT') return {};
    throw thrown;
  } finally {
    entry.close();
  }
}

function statJudged(place: Place): BigIntStats | undefined {
  const name = splitPath(place.path).components.at(-1);
  if (name === undefined || name === '..') {
    place.ruling?.rule?.check({ ...locatePlace(place, false), access: 'read' });
    return place.root.statBeneath(place.path);
  }
  const target = findTarget(place.root, place.path, { followLast: false, acceptsFolder: true });
  try {
    judgePlace(place, { dirFd: target.dirFd, below: [...target.missing, target.name] }, 'read');
    return target.existing;
  } finally {
    target.close();
  }
}
