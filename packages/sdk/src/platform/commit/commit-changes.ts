/**
 * Makes a set of changes real, all of it or none.
 *
 * Everything is checked first. Then a record with all new content goes into the state folder, and from there on the commit
 * will be finished, even after a kill: a record whose owner is dead is worked off by the next process that looks. A step that
 * fails takes the steps before it back.
 */
import { ToolError } from '@tool-runtime/protocol';
import { type PathState, type StagedChange, sameState } from '../../changes/change-set.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { statEntry } from '../descriptors/directory-entry.ts';
import type { Disk } from '../descriptors/disk.ts';
import { fileError } from '../descriptors/file-errors.ts';
import { shownPath } from '../descriptors/path-rules.ts';
import { type Place, requireWritable } from '../descriptors/places.ts';
import type { Root } from '../descriptors/root.ts';
import type { CommitGround } from '../files/workspace.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import { CommitSteps, type PlannedChange } from './apply-steps.ts';
import { type ContentKeeper, HeldFolders, lookAt, type SeenState } from './held-folders.ts';
import { requireNames, TargetJudge } from './judge-targets.ts';
import { Slipped } from './name-entry.ts';
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
  const held: HeldRoots = new Map();
  const pace = new Pace(undefined);
  try {
    const planned: PlannedChange[] = [];
    const differing: string[] = [];
    for (const change of staged) {
      if (sameState(change.before, change.after)) continue;
      const planning = planChange(ground, change, { held, keeper });
      const plan = planning instanceof Promise ? await planning : planning;
      if (sameState(plan.seen.state, change.before)) planned.push(plan);
      else differing.push(change.path);
      if (pace.isDue(ENTRY_UNITS)) await pace.pause();
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
    for (const { folders } of held.values()) folders.close();
  }
}

type HeldRoots = Map<Root, { readonly folders: HeldFolders; readonly judge: TargetJudge }>;

/** One rename is all or nothing by itself. */
function needsNoRecord([only, ...more]: readonly PlannedChange[]): boolean {
  const isPlain = ({ kind }: PathState) => kind === 'file' || kind === 'link' || kind === 'absent';
  return only !== undefined && more.length === 0 && isPlain(only.before) && isPlain(only.after);
}

function planChange(
  ground: CommitGround,
  change: StagedChange,
  { held, keeper }: { readonly held: HeldRoots; readonly keeper: ContentKeeper | undefined },
): MaybePromise<PlannedChange> {
  const failed = (thrown: unknown): never => {
    throw fileError(thrown, change.path);
  };
  try {
    const place = findPlace(ground, change.path);
    requireWritable(place);
    requireNames(place.path);
    const { folders, judge } = held.get(place.root) ?? hold(ground, place.root, held);
    const entry = folders.find(place.path);
    const stat = entry && statEntry(entry);
    judge.check(place, stat, change.after.kind === 'absent' ? 'delete' : 'write');
    const planned = (seen: SeenState): PlannedChange => ({ ...change, path: place.path, folders, seen });
    const seen = lookAt(entry, { stat, keeper });
    return seen instanceof Promise ? seen.then(planned).catch(failed) : planned(seen);
  } catch (thrown) {
    return failed(thrown);
  }
}

function hold({ guard }: CommitGround, root: Root, held: HeldRoots): { folders: HeldFolders; judge: TargetJudge } {
  const folders = new HeldFolders(root);
  const found = { folders, judge: new TargetJudge(guard, folders) };
  held.set(root, found);
  return found;
}

/** Names that are no UTF-8 cannot be asked for by path; they are always of the workspace itself. */
function findPlace({ find }: CommitGround, path: string): Place {
  if (path.isWellFormed()) return find(path);
  const place = find('.');
  return { ...place, path: path as Place['path'], spelling: path };
}

/** All steps, or none: a failure is thrown after the steps before it were taken back. */
export async function performChanges(planned: readonly PlannedChange[], disk: Disk): Promise<void> {
  const outward = deepestFirst(planned);
  const inward = outward.toReversed();
  const removed = outward.filter(({ before }) => before.kind !== 'absent');
  const isFolder = ({ after }: PlannedChange): boolean => after.kind === 'folder';
  const isLeaf = ({ after }: PlannedChange): boolean => after.kind === 'file' || after.kind === 'link';
  const steps = new CommitSteps(disk, planned);
  const pace = new Pace(undefined);
  let path = '';
  try {
    const each = async (
      changes: readonly PlannedChange[],
      step: (change: PlannedChange) => MaybePromise<void>,
    ): Promise<void> => {
      for (const change of changes) {
        path = change.path;
        const doing = step(change);
        if (doing instanceof Promise) await doing;
        if (pace.isDue(STEP_UNITS)) await pace.pause();
      }
    };
    await stageAll(planned.filter(isLeaf), steps, { atOnce: disk.isFull ? SYNCS_AT_ONCE : 1, pace });
    await each(removed, (change) => steps.remove(change));
    await each(inward.filter(isFolder), (change) => steps.makeFolder(change));
    await each(inward.filter(isLeaf), (change) => steps.publish(change));
    await each(outward.filter(isFolder), (change) => steps.closeFolder(change));
  } catch (thrown) {
    const failed = steps.rollBack();
    if (failed !== undefined) throw notTakenBack(path, failed);
    throw thrown instanceof Slipped ? notAsBefore([thrown.path]) : fileError(thrown, path);
  } finally {
    steps.close();
  }
  await steps.settle();
}

/** Most steps of a change do nothing. */
const STEP_UNITS = ENTRY_UNITS / 4;

/** Syncs that wait together end together: the disk writes them in one go. */
const SYNCS_AT_ONCE = 16;

interface Staging {
  readonly atOnce: number;
  readonly pace: Pace;
}

/** What belongs into folders that are not there yet is staged when it is published. */
async function stageAll(
  leaves: readonly PlannedChange[],
  steps: CommitSteps,
  { atOnce, pace }: Staging,
): Promise<void> {
  for (let at = 0; at < leaves.length; at += atOnce) {
    const staging = leaves.slice(at, at + atOnce).map(async (change) => {
      try {
        if (change.folders.find(change.path) !== undefined) await steps.stage(change);
      } catch (thrown) {
        throw fileError(thrown, change.path);
      }
    });
    // Waits for all: what is still being written cannot be taken back.
    const failed = (await Promise.allSettled(staging)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    if (pace.isDue(atOnce * STEP_UNITS)) await pace.pause();
  }
}

function deepestFirst(planned: readonly PlannedChange[]): readonly PlannedChange[] {
  const byDepth: PlannedChange[][] = [];
  for (const change of planned) {
    const depth = depthOf(change.path);
    const changes = byDepth[depth] ?? [];
    changes.push(change);
    byDepth[depth] = changes;
  }
  return byDepth.reverse().flat();
}

function depthOf(path: string): number {
  let depth = 0;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) depth += 1;
  return depth;
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
