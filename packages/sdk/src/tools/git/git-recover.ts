/**
 * git_recover: puts the repository back as it was before an earlier call, byte for byte, or lists the points there are.
 *
 * The present state is saved first, so that going back can be undone the same way. Untracked files made since then stay.
 */
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { emptyTree } from '../../git/empty-tree.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { findObjects } from '../../git/resolve-revisions.ts';
import { reportPaths } from './changes/report-changes.ts';
import { touchedFiles } from './changes/touched-files.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { readHead, shortBranch } from './operation/read-head.ts';
import { clearLocks } from './recovery/clear-locks.ts';
import { findLeftovers } from './recovery/find-leftovers.ts';
import { listRecoveries } from './recovery/list-recoveries.ts';
import { type RecoveryPoint, readRecovery } from './recovery/read-recovery.ts';
import { checkRecoveryRef } from './recovery/recovery-ref.ts';
import { pathsInDanger, requireFreeBranch, restoreRecovery } from './recovery/restore-recovery.ts';
import { readWorktree, saveRecovery } from './recovery/save-recovery.ts';

const args = z.strictObject({
  recovery: z.string().exactOptional().describe('What a git tool answered as `recovery`; the newest one unless said'),
  list: z.boolean().default(false).describe('Only list the recovery points'),
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
  recoveries: z.array(listed),
});

export const gitRecover = defineTool({
  name: 'git_recover',
  category: 'git',
  title: 'Recover',
  summary: 'Put branch, index and files back as they were before an earlier git call',
  policyNotes: 'Saves the present state first; untracked files made since then stay',
  args,
  data,
  annotations: WRITE_GIT,
  leastLevel: 'read_only',
  effect: 'write',
  risk: 'high',
  rehearse: 'none',
  timeoutMs: 300_000,
  locks: GIT_LOCKS,
  git: () => ({ verb: 'recover' }),
  profile: ({ list }) => (list ? { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' } : {}),
  run: ({ recovery, list }, context) => (list ? listPoints(context) : recover(context, recovery)),
});

const NOTHING = { restored: false, from: null, recovery: null, head: null, branch: null, files: 0, recoveries: [] };

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
  const refs = [...Object.keys(note.refs), ...(note.branch === null ? [] : [note.branch])];
  await clearLocks(context, refs);
  const { saved, leftovers } = await savePresent(context, point, refs);
  await requireFreeBranch(git, note.branch, saved.branch);
  await restoreRecovery(context, point, { leftovers });
  const moved = await touchedFiles(git, saved.head, note.head ?? emptyTree(await git.config()));
  const paths = [...moved, ...saved.dirty.entries, ...point.files].map(({ path }) => path);
  await reportPaths(context, new Set([...paths, ...point.deleted, ...leftovers]));
  return {
    restored: true,
    from: ref,
    recovery: saved.ref,
    head: note.head,
    branch: shortBranch(note.branch),
    files: point.files.length,
    recoveries: [],
  };
}

async function newestRef({ git }: ToolContext): Promise<string | undefined> {
  const here = await readWorktree(git);
  return (await listRecoveries(git)).find(({ note }) => note.worktree === here)?.ref;
}

/** A git that was killed leaves its lock whether or not anything was saved before; nothing else could take it away. */
async function unlock(context: ToolContext): Promise<z.output<typeof data>> {
  const { head, branch } = await readHead(context.git);
  if (await clearLocks(context, branch === null ? [] : [`refs/heads/${branch}`])) return { ...NOTHING, head, branch };
  throw gitFailure('There is no recovery point', {
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
    target: head ?? undefined,
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
