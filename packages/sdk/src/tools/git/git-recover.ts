/**
 * git_recover: puts the repository back as it was before an earlier call, byte for byte, or lists the points there are.
 *
 * The present state is saved first, so that going back can be undone the same way. Untracked files made since then stay.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { GitRepository } from '../../contracts/git.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { emptyTree, findObjects } from '../../git/resolve-revisions.ts';
import { counted, goBack, shortHash } from '../../present/rows.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { readHead, shortBranch } from './operation-state.ts';
import { findLeftovers } from './recovery/find-leftovers.ts';
import { putFiles } from './recovery/put-files.ts';
import { toShown } from './recovery/raw-path.ts';
import { type RecoveryPoint, readRecovery } from './recovery/read-recovery.ts';
import {
  checkRecoveryRef,
  RECOVERY_FOLDER,
  RECOVERY_REF,
  type RecoveryNote,
  readNote,
} from './recovery/recovery-note.ts';
import { pathsInDanger, requireFreeBranch, restoreRecovery } from './recovery/restore-recovery.ts';
import { type RecoveryContext, readWorktree, saveFiles, saveRecovery } from './recovery/save-recovery.ts';
import { reportPaths, touchedFiles } from './report-changes.ts';

const args = z.strictObject({
  recovery: z.string().exactOptional().describe('`recovery` from the answer of a git tool; default: the newest one'),
  list: z.boolean().default(false).describe('List the recovery points and restore nothing'),
});

const listed = z.strictObject({
  recovery: z.string(),
  verb: z.string().describe('What was about to be done'),
  time: z.string(),
  head: z.string().nullable(),
  branch: z.string().nullable(),
  files: z.int().describe('Saved files that were not as HEAD had them'),
  deleted: z.int(),
  skipped: z.int().describe('Files that were too large to save'),
});

const data = z.strictObject({
  restored: z.boolean(),
  from: z.string().nullable().describe('The recovery point that was restored'),
  recovery: z.string().nullable().describe('The state before this call, to go back to'),
  head: z.string().nullable(),
  branch: z.string().nullable(),
  files: z.int(),
  dropped: z.array(z.string()).describe('Commits that no branch or tag leads to any more: short hash and subject'),
  recoveries: z.array(listed),
});

export const gitRecover = defineTool({
  name: 'git_recover',
  category: 'git',
  title: 'Recover',
  summary: 'Put branch, index and files back as they were before an earlier git call',
  policyNotes:
    'Saves the present state first; untracked files made since then stay; commits are dropped only when the recovery point is named',
  args,
  data,
  annotations: WRITE_GIT,
  leastLevel: 'read_only',
  effect: 'write',
  risk: 'high',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: () => ({ verb: 'recover' }),
  profile: ({ list }) => (list ? { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' } : {}),
  present: presentRecovery,
  run: ({ recovery, list }, context) => (list ? listPoints(context) : recover(context, recovery)),
});

const NOTHING = {
  restored: false,
  from: null,
  recovery: null,
  head: null,
  branch: null,
  files: 0,
  dropped: [],
  recoveries: [],
};

async function listPoints({ git }: ToolContext): Promise<z.output<typeof data>> {
  const points = await listRecoveries(git);
  const recoveries = points.map(({ ref, note }) => {
    const { verb, time, head, branch, files, deleted, skipped } = note;
    return { recovery: ref, verb, time, head, branch: shortBranch(branch), files, deleted, skipped: skipped.length };
  });
  return { ...NOTHING, recoveries };
}

async function recover(context: ToolContext, asked: string | undefined): Promise<z.output<typeof data>> {
  const { git } = context;
  const ref = asked === undefined ? await newestRef(context) : checkRecoveryRef(asked);
  if (ref === undefined) return unlock(context);
  const point = await readRecovery(git, ref);
  const { note } = point;
  if (note.worktree !== (await readWorktree(git))) throw anotherWorktree();
  if (note.scope === 'files') return recoverFiles(context, point);
  const refs = [...Object.keys(note.refs), ...(note.branch === null ? [] : [note.branch])];
  const dropped = await droppedCommits(git, note);
  if (asked === undefined && dropped.length > 0) throw wouldDrop(ref, dropped);
  await clearLocks(context, refs);
  const { saved, leftovers } = await savePresent(context, point, refs);
  await requireFreeBranch(git, note.branch, saved.branch);
  await restoreRecovery(context, point, { leftovers, present: saved });
  const goal = point.indexTree ?? note.head ?? emptyTree(await git.config());
  const moved = await touchedFiles(git, saved.head, goal);
  const paths = [...moved, ...saved.dirty.entries, ...point.files].map(({ path }) => path);
  await reportPaths(context, new Set([...paths, ...point.deleted, ...leftovers]));
  return {
    restored: true,
    from: ref,
    recovery: saved.ref,
    head: note.head,
    branch: shortBranch(note.branch),
    files: point.files.length,
    dropped: [...dropped],
    recoveries: [],
  };
}

/** Files that a tool took away come back; nothing else moves. */
async function recoverFiles(context: ToolContext, point: RecoveryPoint): Promise<z.output<typeof data>> {
  const paths = point.files.map(({ path }) => path);
  await context.git.requireChangeable(paths);
  for (const path of paths) context.workspace.requireAllowed(toShown(path), 'write', 'themselves');
  const saved = await saveFiles(context, { verb: 'recover', paths });
  await putFiles(context, point.files);
  await reportPaths(context, paths);
  const now = await readHead(context.git);
  const told = { restored: true, from: point.ref, recovery: saved?.ref ?? null, ...now };
  return { ...NOTHING, ...told, files: point.files.length };
}

const MAX_DROPPED = 50;

/** What going back takes off the branches that it moves, unless another branch, tag or remote still has it. */
async function droppedCommits(git: GitRepository, { head, branch, refs }: RecoveryNote): Promise<readonly string[]> {
  const targets = new Map([...Object.entries(refs), ...(branch === null ? [] : [[branch, head] as const])]);
  const { stdout } = await git.run({
    words: ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/', 'refs/tags/', 'refs/remotes/'],
    access: 'read',
  });
  const known = stdout
    .toString('utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ hash: line.slice(0, line.indexOf(' ')), ref: line.slice(line.indexOf(' ') + 1) }));
  const [present] = await findObjects(git, ['HEAD^{commit}']);
  const moved = known.filter(({ ref }) => targets.has(ref)).map(({ hash }) => hash);
  const leaving = [...new Set([...moved, ...(present === undefined ? [] : [present])])];
  if (leaving.length === 0) return [];
  const kept = [...known.filter(({ ref }) => !targets.has(ref)).map(({ hash }) => hash), ...targets.values()];
  const found = await findObjects(
    git,
    kept.flatMap((hash) => (hash === null ? [] : [`${hash}^{commit}`])),
  );
  const staying = found.flatMap((hash) => (hash === undefined ? [] : [`^${hash}`]));
  const listed = await git.run({
    words: ['log', '--no-show-signature', `--max-count=${MAX_DROPPED}`, '--format=%h %s', '--stdin'],
    access: 'read',
    stdin: `${[...leaving, ...staying].join('\n')}\n`,
  });
  return listed.stdout.toString('utf8').split('\n').filter(Boolean);
}

function wouldDrop(ref: string, dropped: readonly string[]) {
  return gitFailure(`Commits were made since the newest recovery point: ${dropped.length}`, {
    path: 'recovery',
    reason: 'commits_since',
    next: `pass recovery: ${ref} to drop them, or choose another point with list: true`,
    details: { recovery: ref, dropped: dropped.map((line) => safeText(line, 200)) },
  });
}

async function newestRef({ git }: ToolContext): Promise<string | undefined> {
  const here = await readWorktree(git);
  return (await listRecoveries(git)).find(({ note }) => note.worktree === here)?.ref;
}

/** A git that was killed leaves its lock whether or not anything was saved before; nothing else could take it away. */
async function unlock(context: ToolContext): Promise<z.output<typeof data>> {
  const { head, branch } = await readHead(context.git);
  if (await clearLocks(context, branch === null ? [] : [`refs/heads/${branch}`])) return { ...NOTHING, head, branch };
  throw gitFailure('There are no recovery points', {
    path: 'recovery',
    reason: 'unknown_recovery',
    next: 'nothing to do: no git tool that could lose work has run in this work tree',
  });
}

function anotherWorktree() {
  return gitFailure('Recovery point belongs to another work tree', {
    path: 'recovery',
    reason: 'another_worktree',
    next: 'open the work tree it was made in as the workspace',
  });
}

async function savePresent(context: ToolContext, point: RecoveryPoint, refs: readonly string[]) {
  const { git } = context;
  const { head, target } = point.note;
  const [begun, tips] = await Promise.all([
    // The commit may be gone by now; then nothing of it is looked for.
    target === null ? [] : touchedFiles(git, head, target).catch(() => []),
    refs.length === 0 ? [] : findObjects(git, refs),
  ]);
  const danger = await pathsInDanger(git, point, begun);
  const saved = await saveRecovery(context, {
    verb: 'recover',
    target: point.indexTree ?? head ?? undefined,
    keep: tips.flatMap((hash) => (hash === undefined ? [] : [hash])),
    refs: tipsOf(refs, tips),
    alsoSave: danger.paths,
    mayTouch: (_, isTracked) => isTracked,
  });
  return { saved, leftovers: await findLeftovers(danger.leftovers, context) };
}

function tipsOf(refs: readonly string[], tips: readonly (string | undefined)[]): Record<string, string> {
  return Object.fromEntries(refs.flatMap((ref, at) => (tips[at] === undefined ? [] : [[ref, tips[at]]])));
}

const LOOKS = 20;
const PAUSE_MS = 100;

/** Whether there were any. */
async function clearLocks({ git, signal, warn }: RecoveryContext, refs: readonly string[]): Promise<boolean> {
  const names = ['index', 'HEAD', 'ORIG_HEAD', 'AUTO_MERGE', 'packed-refs', 'refs/stash', ...refs].map(
    (name) => `${name}.lock`,
  );
  let held = await heldOf(names);
  for (let look = 0; held.length > 0 && look < LOOKS; look++) {
    await wait(PAUSE_MS, undefined, { signal });
    held = await heldOf(held);
  }
  if (held.length === 0) return false;
  for (const name of held) await git.files.remove(name);
  warn({
    code: 'E_GIT',
    message: `Lock files were removed: ${held.join(', ')}`,
    details: { reason: 'left_over_lock', next: 'nothing; if another git process was still running, run it again' },
  });
  return true;

  async function heldOf(candidates: readonly string[]): Promise<readonly string[]> {
    const found = await Promise.all(candidates.map((name) => git.files.read(name)));
    return candidates.filter((_, at) => found[at] !== undefined);
  }
}

interface ListedRecovery {
  readonly ref: string;
  readonly note: RecoveryNote;
}

/** The recovery points of a repository, newest first; other references under the same name are left out. */
async function listRecoveries(git: GitRepository): Promise<readonly ListedRecovery[]> {
  const { stdout } = await git.run({
    words: ['for-each-ref', '--sort=-refname', '--format=%(refname)%00%(contents)%00', `${RECOVERY_FOLDER}/`],
    access: 'read',
  });
  const fields = stdout.toString('utf8').split('\0');
  const listed: ListedRecovery[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const ref = (fields[at] ?? '').trim();
    const note = RECOVERY_REF.test(ref) ? noteOf(fields[at + 1] ?? '') : undefined;
    if (note !== undefined) listed.push({ ref, note });
  }
  return listed;
}

function noteOf(message: string): RecoveryNote | undefined {
  try {
    return readNote(message);
  } catch {
    // Not made by us: nothing to go back to.
    return undefined;
  }
}

function presentRecovery(answer: z.output<typeof data>): ToolText {
  const { restored, from, recovery, head, branch, files, recoveries } = answer;
  const rows = recoveries.map((one) => {
    const counts = `${counted(one.files, 'file')} saved${one.skipped === 0 ? '' : `, ${one.skipped} too large`}`;
    return `${one.recovery} ${one.time} before ${one.verb}, on ${one.branch ?? 'no branch'} at ${shortHash(one.head)}, ${counts}`;
  });
  const done = `restored ${from ?? ''}: ${counted(files, 'file')}, on ${branch ?? 'no branch'} at ${shortHash(head)}`;
  const back = recovery === null ? '' : `\n${goBack(recovery)}`;
  return {
    head: restored ? `${done}${back}` : counted(recoveries.length, 'recovery point'),
    parts: [{ type: 'text', text: rows }],
  };
}
