/**
 * Saves everything a git verb could lose, before it runs: HEAD, the index byte for byte, every file that is not as HEAD
 * has it, untracked ones included, and the state of an operation under way.
 *
 * It becomes one commit under refs/tool-runtime/recovery, made by one `git fast-import` or, where it is small, without
 * git: index, work tree and HEAD stay as they are, no hook or filter runs. What HEAD and the index reach stays
 * reachable from it.
 */
import type { ChangedFile, CommitCandidate, GitRecovery, GitRepository, GitVerb } from '../../../contracts/git.ts';
import type { ToolContext } from '../../../contracts/tool.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { currentBranch, headCommit } from '../../../git/head-commit.ts';
import { findObjects } from '../../../git/resolve-revisions.ts';
import { branchOf, commitsOf, readHead, readOperationState, type StateFile } from '../operation-state.ts';
import { touchedFiles } from '../report-changes.ts';
import { type Captured, captureFiles, type Skipped } from './capture-files.ts';
import { importCommit } from './import-commit.ts';
import { mayConvert } from './may-convert.ts';
import { type RawPath, toPlain, toShown } from './raw-path.ts';
import { type DirtyTree, readDirty } from './read-dirty.ts';
import { commitEntries, recoveryEntries } from './recovery-entries.ts';
import {
  NOTED_PATHS,
  newRecoveryRef,
  RECOVERY_FOLDER,
  RECOVERY_REF,
  type RecoveryNote,
  type SavedVerb,
  writeNote,
} from './recovery-note.ts';
import { standingAt } from './standing-at.ts';

export type RecoveryContext = Pick<ToolContext, 'git' | 'workspace' | 'signal' | 'warn' | 'aboutToChange'>;

export interface RecoveryRequest {
  readonly verb: GitVerb;
  /** Hash of the commit or tree the verb goes to: what it will write is looked at too. */
  readonly target?: string | undefined;
  /** Full name → hash of further branches the verb may move. */
  readonly refs?: Readonly<Record<string, string>>;
  /** Further commits that must stay reachable. */
  readonly keep?: readonly string[];
  readonly stashes?: readonly { readonly hash: string; readonly message: string }[];
  /** Names the verb will write: whatever is there, tracked, ignored or not, is saved. */
  readonly alsoSave?: readonly RawPath[];
  /** Whether the verb may write over this file too, so that it must not go ahead when it cannot be saved. */
  mayTouch?(path: RawPath, isTracked: boolean): boolean;
}

export interface SavedRecovery extends GitRecovery {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Full name; null when detached. */
  readonly branch: string | null;
  /** From HEAD to the target; paths are raw. */
  readonly touched: readonly ChangedFile[];
  readonly dirty: DirtyTree;
  readonly state: readonly StateFile[];
}

/** Throws E_GIT when something the verb may touch cannot be saved, E_POLICY when it is a governing file. */
export async function saveRecovery(context: RecoveryContext, request: RecoveryRequest): Promise<SavedRecovery> {
  const { git } = context;
  const [{ dirty, touched }, state, index, worktree] = await Promise.all([
    lookAround(git, request),
    readOperationState(git),
    git.files.read('index'),
    readWorktree(git),
  ]);
  await git.requireChangeable(atStake(dirty, touched, request));
  const [hidden, inTheWay] = await Promise.all([
    standingAt(context, trackedPaths(dirty), { repositories: 'leave' }),
    standingAt(context, request.alsoSave ?? [], { repositories: 'refuse' }),
  ]);
  const others = [...(await convertible(dirty, touched, context)), ...hidden, ...inTheWay];
  const captured = await capture(dirty, others, context);
  const skipped = [...captured.skipped, ...dirty.repositories.map(repository)];
  judgeSkipped(skipped, { dirty, inTheWay, request }, context);
  const time = new Date().toISOString();
  const refs = { ...request.refs, ...branchOf(state) };
  const note = noteOf({ dirty, captured, skipped, request: { ...request, refs }, time, worktree });
  const ref = newRecoveryRef(time);
  await importCommit(git, {
    ref,
    time: Math.floor(Date.parse(time) / 1000),
    message: writeNote(note),
    parents: await parentsOf(git, dirty, { state, request: { ...request, refs: note.refs } }),
    entries: await recoveryEntries(git, { dirty, captured, state, index }),
  });
  await pruneRecoveries(git);
  await context.aboutToChange(plainNames(atStake(dirty, touched, request)), ref);
  const { head, branch } = dirty;
  return { ref, details: { ...note }, head, branch, touched, dirty, state };
}

export interface SavedCommit extends GitRecovery {
  /** An operation that the commit ends, or that left a message for it. */
  readonly isUnderWay: boolean;
}

/** Saves these files, which a tool is about to write or take away, and nothing else. Undefined when none is there. */
export async function saveFiles(
  context: RecoveryContext,
  { verb, paths }: { readonly verb: SavedVerb; readonly paths: readonly RawPath[] },
): Promise<{ readonly ref: string } | undefined> {
  const { git } = context;
  const found = await standingAt(context, paths, { repositories: 'leave' });
  if (found.size === 0) return undefined;
  const [captured, worktree, { head, branch }] = await Promise.all([
    captureFiles([...found], context),
    readWorktree(git),
    readHead(git),
  ]);
  warnOfSkipped(captured.skipped, context, 'they are too large or not readable, and this call may take them away');
  const dirty = { ...NOTHING_DIRTY, head, branch: branch === null ? null : `refs/heads/${branch}` };
  const time = new Date().toISOString();
  const note = noteOf({ dirty, captured, skipped: captured.skipped, request: { verb }, time, worktree });
  const ref = newRecoveryRef(time);
  await importCommit(git, {
    ref,
    time: Math.floor(Date.parse(time) / 1000),
    message: writeNote({ ...note, scope: 'files' }),
    parents: head === null ? [] : [head],
    entries: await recoveryEntries(git, { dirty, captured, state: [], index: undefined }),
  });
  await pruneRecoveries(git);
  await context.aboutToChange(plainNames(paths), ref);
  return { ref };
}

/** Names that are no UTF-8 are in the recovery point alone. */
function plainNames(paths: readonly RawPath[]): readonly string[] {
  return [...new Set(paths)].flatMap((path) => toPlain(path) ?? []);
}

/**
 * Saves what a commit could lose: where HEAD is, what the index holds, and the operation it ends. It touches no file, so
 * none is looked at.
 */
export async function saveCommit(
  { git }: Pick<RecoveryContext, 'git'>,
  candidate: CommitCandidate,
): Promise<SavedCommit> {
  const [state, index, worktree, head, branch] = await Promise.all([
    readOperationState(git),
    git.files.read('index'),
    readWorktree(git),
    headCommit(git),
    currentBranch(git),
  ]);
  const time = new Date().toISOString();
  // A repository that keeps references otherwise has this in its file.
  const named = branch === '.invalid' ? (await readHead(git)).branch : branch;
  const at = { head: head?.hash ?? null, branch: named == null ? null : `refs/heads/${named}` };
  const dirty = { ...NOTHING_DIRTY, ...at };
  const request = { verb: 'commit', refs: branchOf(state) } as const;
  const captured = { files: [], missing: [], skipped: [] };
  const note = { ...noteOf({ dirty, captured, skipped: [], request, time, worktree }), scope: 'commit' } as const;
  const ref = newRecoveryRef(time);
  await importCommit(git, {
    ref,
    time: Math.floor(Date.parse(time) / 1000),
    message: writeNote(note),
    parents: await parentsOf(git, dirty, { state, request }),
    entries: await commitEntries(git, { state, index, candidate }),
  });
  await pruneRecoveries(git);
  return { ref, details: { ...note }, isUnderWay: state.some(({ name }) => name !== 'ORIG_HEAD') };
}

const NOTHING_DIRTY = { entries: [], repositories: [], hasUnfinished: false };

async function lookAround(git: GitRepository, { target }: RecoveryRequest) {
  if (target === undefined) return { dirty: await readDirty(git), touched: [] };
  const [dirty, touched] = await Promise.all([
    readDirty(git),
    // Fails before the first commit; which it is, only the other run knows.
    touchedFiles(git, 'HEAD', target).catch(() => undefined),
  ]);
  return { dirty, touched: touched ?? (await touchedFiles(git, dirty.head, target)) };
}

/** Every file the verb may write or take away. */
function atStake(dirty: DirtyTree, touched: readonly ChangedFile[], request: RecoveryRequest): readonly RawPath[] {
  const mayTouch = request.mayTouch ?? (() => false);
  const changed = dirty.entries.filter(({ kind, path }) => mayTouch(path, kind !== 'untracked'));
  return [...[...touched, ...changed].map(({ path }) => path), ...(request.alsoSave ?? [])];
}

/** The file that tells a linked work tree where it is; the main one has none. */
export async function readWorktree({ files }: Pick<GitRepository, 'files'>): Promise<string | null> {
  return (await files.read('gitdir'))?.toString('utf8').trim() ?? null;
}

function trackedPaths({ entries }: DirtyTree): readonly RawPath[] {
  return entries.filter(({ kind }) => kind !== 'untracked').map(({ path }) => path);
}

/** Clean files the verb will write, where git may have written other bytes than those that are there. */
async function convertible(
  { entries }: DirtyTree,
  touched: readonly ChangedFile[],
  context: RecoveryContext,
): Promise<readonly RawPath[]> {
  const known = new Set(entries.map(({ path }) => path));
  const clean = touched.filter(({ kind, path }) => kind !== 'added' && !known.has(path)).map(({ path }) => path);
  return (await mayConvert(clean, context)) ? clean : [];
}

/** Only of a tracked file it is worth knowing that it is not there. */
async function capture(dirty: DirtyTree, others: readonly RawPath[], context: RecoveryContext): Promise<Captured> {
  const paths = new Set([...dirty.entries.map(({ path }) => path), ...others]);
  const tracked = new Set(trackedPaths(dirty));
  const captured = await captureFiles([...paths], context);
  return { ...captured, missing: captured.missing.filter((path) => tracked.has(path)) };
}

function repository(path: RawPath): Skipped {
  return { path, size: 0, reason: 'repository' };
}

interface Judged {
  readonly dirty: DirtyTree;
  readonly inTheWay: ReadonlySet<RawPath>;
  readonly request: RecoveryRequest;
}

function judgeSkipped(
  skipped: readonly Skipped[],
  { dirty, inTheWay, request }: Judged,
  { warn }: RecoveryContext,
): void {
  const left = skipped.filter(({ reason }) => reason !== 'repository');
  if (left.length === 0) return;
  const untracked = new Set(dirty.entries.filter(({ kind }) => kind === 'untracked').map(({ path }) => path));
  const lost = left.filter(({ path }) => inTheWay.has(path) || request.mayTouch?.(path, !untracked.has(path)) === true);
  const [first] = lost;
  if (first !== undefined) {
    throw gitFailure(`File cannot be saved before git may write over it: ${toShown(first.path)}`, {
      path: toShown(first.path),
      reason: first.reason,
      next: 'commit it or move it away first',
      details: { paths: lost.slice(0, 20).map(({ path }) => toShown(path)) },
    });
  }
  warnOfSkipped(left, { warn }, 'they are too large or not readable; this call does not touch them');
}

function warnOfSkipped(left: readonly Skipped[], { warn }: Pick<RecoveryContext, 'warn'>, next: string): void {
  if (left.length === 0) return;
  warn({
    code: 'E_GIT',
    message: `Files are not in the recovery point: ${left.length}`,
    details: { reason: 'not_saved', paths: left.slice(0, 20).map(({ path }) => toShown(path)), next },
  });
}

interface Told {
  readonly dirty: DirtyTree;
  readonly captured: Captured;
  readonly skipped: readonly Skipped[];
  readonly request: Omit<RecoveryRequest, 'verb'> & { readonly verb: SavedVerb };
  readonly time: string;
  readonly worktree: string | null;
}

function noteOf({ dirty, captured, skipped, request, time, worktree }: Told): RecoveryNote {
  const { files, missing } = captured;
  return {
    version: 1,
    verb: request.verb,
    time,
    head: dirty.head,
    branch: dirty.branch,
    target: request.target ?? null,
    refs: { ...request.refs },
    worktree,
    files: files.length,
    deleted: missing.length,
    paths: [...files.map(({ path }) => path), ...missing].slice(0, NOTED_PATHS).map(toShown),
    skipped: skipped.slice(0, NOTED_PATHS).map(({ path, ...rest }) => ({ path: toShown(path), ...rest })),
    stashes: (request.stashes ?? []).map(({ hash, message }) => ({ hash, message })),
  };
}

async function parentsOf(
  git: GitRepository,
  { head }: DirtyTree,
  { state, request }: { readonly state: readonly StateFile[]; readonly request: RecoveryRequest },
): Promise<readonly string[]> {
  const { refs = {}, keep = [], stashes = [] } = request;
  const wanted = [...commitsOf(state), ...Object.values(refs), ...keep, ...stashes.map(({ hash }) => hash)];
  const others = [...new Set(wanted)].filter((hash) => hash !== head);
  const found =
    others.length === 0
      ? []
      : await findObjects(
          git,
          others.map((hash) => `${hash}^{commit}`),
        );
  return [...(head === null ? [] : [head]), ...found.flatMap((hash) => (hash === undefined ? [] : [hash]))];
}

const KEPT_RECOVERIES = 100;
/** So many more may gather: taking one away each time would cost two runs of git each time. */
const SPARE_RECOVERIES = 20;

/** Keeps the newest recovery points. Counting them costs nothing until there are too many. */
async function pruneRecoveries(git: GitRepository): Promise<void> {
  const loose = await git.files.list(RECOVERY_FOLDER);
  if (loose.length <= KEPT_RECOVERIES + SPARE_RECOVERIES) return;
  const { stdout } = await git.run({
    words: ['for-each-ref', '--format=%(refname)', '--sort=-refname', `${RECOVERY_FOLDER}/`],
    access: 'read',
  });
  const old = stdout
    .toString('utf8')
    .split('\n')
    .filter((ref) => RECOVERY_REF.test(ref))
    .slice(KEPT_RECOVERIES);
  if (old.length === 0) return;
  await git.run({
    words: ['update-ref', '--stdin', '-z'],
    access: 'write',
    stdin: old.map((ref) => `delete ${ref}\0\0`).join(''),
  });
}
