/**
 * Makes a set of changes real, all of it or none.
 *
 * Everything is checked first. Then a record with all new content goes into the state folder, and from there on the commit
 * will be finished, even after a kill: a record whose owner is dead is worked off by the next process that looks. A step that
 * fails takes the steps before it back.
 */
import { ToolError } from '@tool-runtime/protocol';
import { type PathState, type StagedChange, sameState } from '../../changes/change-set.ts';
import { statEntry } from '../descriptors/directory-entry.ts';
import type { Disk } from '../descriptors/disk.ts';
import { fileError } from '../descriptors/file-errors.ts';
import { shownPath } from '../descriptors/path-rules.ts';
import { type Place, requireWritable } from '../descriptors/places.ts';
import type { Root } from '../descriptors/root.ts';
import type { WriteTarget } from '../descriptors/write-target.ts';
import { ErrnoError } from '../errno-error.ts';
import type { CommitGround } from '../files/workspace.ts';
import { judgePlace } from '../protection/judge-place.ts';
import { CommitSteps, type PlannedChange, Slipped } from './apply-steps.ts';
import { type ContentKeeper, HeldFolders, lookAt } from './held-folders.ts';
import type { RedoLog } from './redo-log.ts';

export interface CommitOptions {
  readonly disk: Disk;
  readonly redo: RedoLog;
  /** Takes the content that is replaced, so that the commit itself can be undone. */
  readonly keeper?: ContentKeeper | undefined;
}

/**
 * Throws E_FILE_IO (`precondition_failed`, all paths named) when something is not what `before` says, E_POLICY for
 * governing files and path rules; then nothing has changed. The order of `staged` does not matter.
 */
export async function commitChanges(
  ground: CommitGround,
  staged: readonly StagedChange[],
  { disk, redo, keeper }: CommitOptions,
): Promise<void> {
  const held = new Map<Root, HeldFolders>();
  try {
    const planned: PlannedChange[] = [];
    const differing: string[] = [];
    for (const change of staged) {
      if (sameState(change.before, change.after)) continue;
      const plan = await planChange(ground, change, { held, keeper });
      if (sameState(plan.seen.state, change.before)) planned.push(plan);
      else differing.push(change.path);
    }
    if (differing.length > 0) throw notAsBefore(differing);
    if (planned.length === 0) return;
    const record = needsNoRecord(planned) ? undefined : redo.begin(planned);
    try {
      await performChanges(planned, disk);
    } finally {
      record?.done();
    }
  } finally {
    for (const folders of held.values()) folders.close();
  }
}

/** One rename is all or nothing by itself. */
function needsNoRecord([only, ...more]: readonly PlannedChange[]): boolean {
  const isPlain = ({ kind }: PathState) => kind === 'file' || kind === 'link' || kind === 'absent';
  return only !== undefined && more.length === 0 && isPlain(only.before) && isPlain(only.after);
}

async function planChange(
  ground: CommitGround,
  change: StagedChange,
  { held, keeper }: { readonly held: Map<Root, HeldFolders>; readonly keeper: ContentKeeper | undefined },
): Promise<PlannedChange> {
  try {
    const place = findPlace(ground, change.path);
    requireWritable(place);
    const folders = held.get(place.root) ?? new HeldFolders(place.root);
    held.set(place.root, folders);
    requireUnguarded(ground, place, { change, folders });
    return { ...change, path: place.path, folders, seen: await lookAt(folders.find(place.path), keeper) };
  } catch (thrown) {
    throw fileError(thrown, change.path);
  }
}

/** Names that are no UTF-8 cannot be asked for by path; they are always of the workspace itself. */
function findPlace({ find }: CommitGround, path: string): Place {
  if (path.isWellFormed()) return find(path);
  const place = find('.');
  return { ...place, path: path as Place['path'], spelling: path };
}

function requireUnguarded(
  { guard }: CommitGround,
  place: Place,
  { change, folders }: { readonly change: StagedChange; readonly folders: HeldFolders },
): void {
  const names = place.path.split('/');
  if (names.includes('..')) throw new ErrnoError('EXDEV');
  if (names.some((name) => name === '' || name === '.')) throw new ErrnoError('EISDIR');
  let depth = names.length - 1;
  let entry = folders.find(place.path);
  for (; entry === undefined; depth--) entry = folders.find(names.slice(0, depth).join('/'));
  const [dirFd, existing] = [entry.dirFd, depth === names.length - 1 ? statEntry(entry) : undefined];
  const location = place.root.locate(dirFd);
  // Moved out of the root since it was opened.
  if (location === undefined) throw new ErrnoError('EXDEV');
  const missing = names.slice(location.length, -1);
  const name = names.at(-1) ?? '';
  const target: WriteTarget = { dirFd, name, missing, existing, made: [], missingFolder: '', close: () => {} };
  guard.checkTarget(target, { location, spelling: place.spelling, access: 'change' });
  const access = change.after.kind === 'absent' ? 'delete' : 'write';
  judgePlace(place, { dirFd, below: [...missing, name] }, access);
}

/** All steps, or none: a failure is thrown after the steps before it were taken back. */
export async function performChanges(planned: readonly PlannedChange[], disk: Disk): Promise<void> {
  const outward = planned.toSorted((one, other) => depthOf(other.path) - depthOf(one.path));
  const inward = outward.toReversed();
  const steps = new CommitSteps(disk, planned);
  let path = '';
  try {
    const each = async (changes: readonly PlannedChange[], step: (change: PlannedChange) => unknown): Promise<void> => {
      for (const change of changes) {
        path = change.path;
        await step(change);
      }
    };
    await each(planned, (change) => (change.folders.find(change.path) === undefined ? undefined : steps.stage(change)));
    await each(outward, (change) => steps.remove(change));
    await each(inward, (change) => steps.makeFolder(change));
    await each(inward, (change) => steps.publish(change));
    await each(outward, (change) => steps.closeFolder(change));
  } catch (thrown) {
    const failed = steps.rollBack();
    if (failed !== undefined) throw notTakenBack(path, failed);
    throw thrown instanceof Slipped ? notAsBefore([thrown.path]) : fileError(thrown, path);
  }
  await steps.settle();
}

function depthOf(path: string): number {
  return path.split('/').length;
}

const MAX_NAMED = 20;

function notAsBefore(paths: readonly string[]): ToolError {
  const shown = paths.slice(0, MAX_NAMED).map(shownPath);
  const more = paths.length > shown.length ? ` and ${paths.length - shown.length} more` : '';
  return new ToolError('E_FILE_IO', `Changed meanwhile, so nothing was written: ${shown.join(', ')}${more}`, {
    path: shown[0] ?? '',
    details: {
      reason: 'precondition_failed',
      paths: shown,
      next: 'Look at the current content and repeat the change on it',
    },
  });
}

function notTakenBack(path: string, cause: unknown): ToolError {
  const error = fileError(cause, path);
  return new ToolError('E_FILE_IO', `Change failed and could not be taken back: ${shownPath(path)}`, {
    path: shownPath(path),
    details: { ...error.details, reason: 'partly_changed', next: 'Compare the files with version control' },
    cause,
  });
}
