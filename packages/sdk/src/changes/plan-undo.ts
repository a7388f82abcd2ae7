/**
 * What has to be done to take change sets back.
 *
 * A path that is as the sets left it gets what was there before them. One that was changed since keeps that change where the
 * two touch different lines of a text; otherwise it is in the way, and nothing is done.
 */
import { type ChangeSet, type PathChange, type PathState, type StagedChange, sameState } from './change-set.ts';

/** What the plan is made from; answers may come later. */
export interface UndoGround {
  /** What is there now. */
  look(path: string): Promise<PathState>;
  /** Whether a folder holds anything other than these paths. */
  hasOthers(folder: string, paths: ReadonlySet<string>): Promise<boolean>;
  /** Undefined when it was not kept. */
  content(digest: string): Promise<Uint8Array | undefined>;
  digest(bytes: Uint8Array): string;
  /** Undefined when the two changes overlap. */
  merge(base: Uint8Array, one: Uint8Array, other: Uint8Array): Uint8Array | undefined;
}

export interface InTheWay {
  readonly path: string;
  readonly reason: 'overlap' | 'not_kept';
  /** What is there now, and what the sets left there. */
  readonly now: PathState;
  readonly left: PathState;
}

export interface UndoPlan {
  readonly staged: readonly StagedChange[];
  /** Paths whose later change is kept beside the undo. */
  readonly merged: readonly string[];
  readonly inTheWay: readonly InTheWay[];
}

/** Several sets as one: from what the oldest found to what the newest left. Newest first. */
export function combineSets(sets: readonly ChangeSet[]): readonly PathChange[] {
  return combineChanges(sets.flatMap(({ paths }) => paths));
}

/** Newest first; a path may be there more than once. */
export function combineChanges(changes: readonly PathChange[]): readonly PathChange[] {
  const combined = new Map<string, PathChange>();
  for (const change of changes) {
    const newer = combined.get(change.path);
    combined.set(change.path, newer === undefined ? change : { ...newer, before: change.before });
  }
  return [...combined.values()].filter(({ before, after }) => !sameState(before, after));
}

export async function planUndo(changes: readonly PathChange[], ground: UndoGround): Promise<UndoPlan> {
  const staged: StagedChange[] = [];
  const merged: string[] = [];
  const inTheWay: InTheWay[] = [];
  const going = new Set(changes.filter(({ before }) => before.kind === 'absent').map(({ path }) => path));
  for (const { path, before, after } of changes) {
    const now = await ground.look(path);
    if (sameState(now, before) || isOtherFolder(now, before, after)) continue;
    if (now.kind === 'folder' && before.kind === 'absent' && (await ground.hasOthers(path, going))) continue;
    const isAsLeft = sameState(now, after) || (now.kind === 'folder' && after.kind === 'folder');
    const target = isAsLeft ? before : await mergedState({ now, before, after }, ground);
    if (target === undefined) {
      inTheWay.push({ path, reason: 'overlap', now, left: after });
      continue;
    }
    if (!isAsLeft) merged.push(path);
    const bytes = 'bytes' in target ? target.bytes : await contentOf(target, ground);
    const state = 'bytes' in target ? target.state : target;
    if (state.kind === 'file' && bytes === undefined) inTheWay.push({ path, reason: 'not_kept', now, left: after });
    else staged.push({ path, before: now, after: state, ...(bytes === undefined ? {} : { source: { bytes } }) });
  }
  return { staged, merged, inTheWay };
}

/** A folder where there is to be one: it gets its earlier mode back when it still has the one that the sets left. */
function isOtherFolder(now: PathState, before: PathState, after: PathState): boolean {
  return now.kind === 'folder' && before.kind === 'folder' && !sameState(now, after);
}

function contentOf(state: PathState, ground: UndoGround): Promise<Uint8Array | undefined> | undefined {
  return state.kind === 'file' ? ground.content(state.digest) : undefined;
}

interface Merged {
  readonly state: PathState;
  readonly bytes: Uint8Array;
}

/** A later change of the mode wins; one of the content is merged. */
async function mergedState(
  { now, before, after }: { readonly now: PathState; readonly before: PathState; readonly after: PathState },
  ground: UndoGround,
): Promise<Merged | PathState | undefined> {
  if (now.kind !== 'file' || after.kind !== 'file' || before.kind !== 'file') return undefined;
  const mode = now.mode === after.mode ? before.mode : now.mode;
  if (now.digest === after.digest) return { ...before, mode };
  const [base, theirs, old] = [
    await ground.content(after.digest),
    await ground.content(now.digest),
    await ground.content(before.digest),
  ];
  const bytes = base && theirs && old && ground.merge(base, theirs, old);
  if (bytes === undefined) return undefined;
  return { state: { kind: 'file', digest: ground.digest(bytes), size: bytes.length, mode }, bytes };
}
