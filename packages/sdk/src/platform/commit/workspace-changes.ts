/** Change sets of one workspace: looking at a tree, keeping what a change replaces, and committing. */
import { closeSync, constants, openSync } from 'node:fs';
import type {
  CallStore,
  Capture,
  ChangeStore,
  ContentSource,
  PathState,
  SessionChanges,
  WorkspaceChanges,
} from '../../changes/change-set.ts';
import { textOfName } from '../../changes/path-name.ts';
import { isTemporaryName } from '../../contracts/path-text.ts';
import { type InnerEntry, openEntry, openSubdirectory } from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import { createFullDisk, type Disk } from '../descriptors/disk.ts';
import { readContent } from '../descriptors/file-content.ts';
import { explained } from '../descriptors/file-errors.ts';
import type { Place } from '../descriptors/places.ts';
import { findTarget } from '../descriptors/write-target.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import type { CommitGround } from '../files/workspace.ts';
import { locateHeld } from '../protection/judge-place.ts';
import { commitChanges } from './commit-changes.ts';
import { type ContentKeeper, HeldFolders, lookAt } from './held-folders.ts';
import type { RedoLog } from './redo-log.ts';

export interface ChangesSetting {
  readonly ground: CommitGround;
  readonly store: ChangeStore;
  readonly redo: RedoLog;
  readonly disk: Disk;
  readonly isRecording: boolean;
  readonly maxFileBytes: number;
  /** Where the workspace is in the one that change sets are written for; `.` for all of it. */
  readonly prefix: string;
}

/** More than this in one tree is not captured: looking at it would take longer than the change. */
const MAX_ENTRIES = 5000;
const MAX_BYTES = 64 * 1024 * 1024;
/** So much of what programs wrote over files is kept for later merges, in each commit. */
const MAX_MERGED_BYTES = 16 * 1024 * 1024;

export function createSessionChanges(
  setting: ChangesSetting,
  mayKeep?: (bytes: Uint8Array) => boolean,
): SessionChanges {
  const { store, isRecording } = setting;
  return {
    store,
    isRecording,
    forCall: () => callChanges(setting, store.forCall(mayKeep)),
    keepingOnly: (allows) => createSessionChanges(setting, allows),
  };
}

function callChanges(setting: ChangesSetting, store: CallStore): WorkspaceChanges {
  const { redo, disk, maxFileBytes } = setting;
  const { find, guard } = setting.ground;
  const keeper: ContentKeeper = { maxBytes: maxFileBytes, keep: (digest, bytes) => store.keepBytes(digest, bytes) };
  const inner = (path: string) => innerPath(path, setting.prefix);
  const own = (path: string): string => {
    const found = inner(path);
    if (found === undefined) throw new ErrnoError('EXDEV');
    return found;
  };
  const readBack = async (name: string, digest: string) =>
    readIfSame(find(name.isWellFormed() ? name : '.'), name, digest);
  return {
    store,
    isRecording: setting.isRecording,
    capture: (path, { keep, alone = false }) =>
      explained(path, () => {
        const looking = { keeper: keep ? keeper : undefined, alone };
        const location = setting.prefix === '.' ? path : `${setting.prefix}/${path}`;
        return path.isWellFormed()
          ? capture(find(path), looking).catch((thrown) => absentBelowFile(thrown, location))
          : captureRaw(find('.'), path, { ...looking, location });
      }),
    async commit(staged, { rule, durable = false } = {}) {
      const ground = { find: (path: string) => find(path, rule), guard };
      const here = setting.prefix === '.' ? staged : staged.map((change) => ({ ...change, path: own(change.path) }));
      await commitChanges(ground, here, { disk: durable ? createFullDisk() : disk, redo, keeper });
      let room = setting.isRecording ? MAX_MERGED_BYTES : 0;
      for (const { path, before, after, source } of here) {
        if (after.kind !== 'file' || source === undefined) continue;
        if ('bytes' in source) store.keepBytes(after.digest, source.bytes);
        // What a program wrote over a file: an undo needs it to keep later changes of other lines. New files need no merge.
        else if (before.kind === 'file' && after.size <= Math.min(room, maxFileBytes)) {
          room -= after.size;
          const bytes = await readBack(path, after.digest).catch(() => undefined);
          if (bytes !== undefined) store.keepBytes(after.digest, bytes);
        }
      }
    },
    read: (path, digest) => explained(path, () => readBack(own(path), digest)),
    content: contentOf,
    inner,
  };
}

function innerPath(path: string, prefix: string): string | undefined {
  if (prefix === '.') return path;
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length + 1) : undefined;
}

/** Where a file, or a link that leads to itself, is in the place of a folder, nothing is below it. */
function absentBelowFile(thrown: unknown, location: string): Capture {
  const code = errnoCode(thrown);
  if (code !== 'ENOTDIR' && code !== 'ELOOP') throw thrown;
  return { location, isWhole: true, states: new Map() };
}

async function capture(
  place: Place,
  { keeper, alone }: { readonly keeper: ContentKeeper | undefined; readonly alone: boolean },
): Promise<Capture> {
  const target = findTarget(place.root, place.path, { followLast: false, acceptsFolder: true });
  try {
    const { location } = locateHeld(place, { dirFd: target.dirFd, below: [...target.missing, target.name] });
    if (target.existing === undefined) return { location, isWhole: true, states: new Map() };
    const { state } = await lookAt(target, { keeper });
    const walk: Walk = { states: new Map([[location, state]]), keeper, bytes: 0 };
    const isWhole = alone || state.kind !== 'folder' || (await captureFolder(target, location, walk));
    return { location, isWhole, states: isWhole ? walk.states : new Map([[location, state]]) };
  } finally {
    target.close();
  }
}

interface Walk {
  readonly states: Map<string, PathState>;
  readonly keeper: ContentKeeper | undefined;
  bytes: number;
}

/** False when there is too much, or something that is neither file, folder nor link. */
async function captureFolder(folder: InnerEntry, location: string, walk: Walk): Promise<boolean> {
  const dirFd = openSubdirectory(folder);
  try {
    for (const entry of await listEntries(dirFd)) {
      if (isTemporaryName(entry.name)) continue;
      if (entry.type === 'other' || walk.states.size >= MAX_ENTRIES) return false;
      const { state, stat } = await lookAt(entry, { keeper: walk.keeper });
      if (state.kind === 'absent') continue;
      const path = `${location}/${textOfName(entry.name)}`;
      walk.states.set(path, state);
      walk.bytes += Number(stat?.size ?? 0);
      if (walk.bytes > MAX_BYTES) return false;
      if (state.kind === 'folder' && !(await captureFolder(entry, path, walk))) return false;
    }
    return true;
  } finally {
    closeSync(dirFd);
  }
}

/** A name that is no UTF-8 cannot be asked for by path: it is one of the workspace itself, and no link is followed on the way. */
async function captureRaw(
  { root }: Place,
  path: string,
  {
    keeper,
    alone,
    location,
  }: { readonly keeper: ContentKeeper | undefined; readonly alone: boolean; readonly location: string },
): Promise<Capture> {
  const folders = new HeldFolders(root);
  try {
    const entry = folders.find(path);
    const { state } = await lookAt(entry, { keeper });
    if (entry === undefined || state.kind === 'absent') return { location, isWhole: true, states: new Map() };
    const walk: Walk = { states: new Map([[location, state]]), keeper, bytes: 0 };
    const isWhole = alone || state.kind !== 'folder' || (await captureFolder(entry, location, walk));
    return { location, isWhole, states: isWhole ? walk.states : new Map([[location, state]]) };
  } finally {
    folders.close();
  }
}

async function readIfSame(place: Place, name: string, digest: string): Promise<Uint8Array | undefined> {
  const folders = new HeldFolders(place.root);
  try {
    const entry = folders.find(name.isWellFormed() ? place.path : name);
    if (entry === undefined) return undefined;
    const { bytes, sha256 } = await readContent(openEntry(entry, constants.O_RDONLY));
    return sha256 === digest ? bytes : undefined;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  } finally {
    folders.close();
  }
}

async function contentOf(source: ContentSource, digest: string): Promise<Uint8Array | undefined> {
  if ('bytes' in source) return source.bytes;
  const fd = openSync(source.file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const { bytes, sha256 } = await readContent(fd);
  return sha256 === digest ? bytes : undefined;
}
