/**
 * git_rebase: replays the commits of a branch on top of another commit.
 *
 * A conflict ends it: everything is put back as it was and the answer is E_GIT with the files in conflict.
 */
import { z } from 'zod';
import type { ChangedFile, GitOutput, GitRepository } from '../../contracts/git.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { parseRawDiff } from '../../git/parse-diff.ts';
import { checkBranchName, checkRevision } from '../../git/ref-names.ts';
import { findObjects, unknownRevision } from '../../git/resolve-revisions.ts';
import { counted, goBack, shortHash } from '../../present/rows.ts';
import { rebaseEnvironment } from './committer.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { gitRefused, readHead, unmergedPaths } from './operation-state.ts';
import { readRecovery } from './recovery/read-recovery.ts';
import { namingRecovery } from './recovery/recovery-note.ts';
import { restoreRecovery } from './recovery/restore-recovery.ts';
import { type SavedRecovery, saveRecovery } from './recovery/save-recovery.ts';
import { refuseOverwriting, reportChanges } from './report-changes.ts';

const args = z.strictObject({
  ref: z.string().min(1).describe('Branch, tag or commit to put the commits on'),
  autosquash: z.boolean().default(true).describe('Fold fixup! and squash! commits into those they belong to'),
  branch: z.string().min(1).exactOptional().describe('Switch to this branch first; default: the current one'),
});
type Args = z.output<typeof args>;

const data = z.strictObject({
  rebased: z.boolean(),
  head: z.string().nullable(),
  branch: z.string().nullable(),
  commits: z.int().describe('Commits on top of `ref` now'),
  recovery: z.string().describe('For git_recover: the state before'),
});

export const gitRebase = defineTool({
  name: 'git_rebase',
  category: 'git',
  title: 'Rebase',
  summary: 'Replay the commits of a branch on another one',
  policyNotes: 'Needs a clean tree; a conflict puts everything back; hooks do not run',
  args,
  data,
  annotations: { ...WRITE_GIT, arg_schema: { arg_aliases: { onto: 'ref' }, required: ['ref'] } },
  effect: 'write',
  risk: 'high',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: () => ({ verb: 'rebase' }),
  present: presentRebase,
  run: rebase,
});

interface Plan {
  readonly onto: string;
  readonly autosquash: boolean;
  /** Checked name and its commit, when it is not the current branch. */
  readonly branch: { readonly name: string; readonly tip: string } | undefined;
}

async function rebase(given: Args, context: ToolContext): Promise<z.output<typeof data>> {
  const plan = await planOf(given, context.git);
  const { branch, onto } = plan;
  const saved = await saveRecovery(context, {
    verb: 'rebase',
    target: onto,
    refs: branch === undefined ? {} : { [`refs/heads/${branch.name}`]: branch.tip },
  });
  return namingRecovery(saved, () => replay(plan, saved, context));
}

async function planOf({ ref, branch, autosquash }: Args, git: GitRepository): Promise<Plan> {
  const text = checkRevision(ref, 'ref');
  const name = branch === undefined ? undefined : checkBranchName(branch, 'branch');
  const [commit, head, tip] = await findObjects(git, [
    `${text}^{commit}`,
    'HEAD',
    ...(name === undefined ? [] : [`refs/heads/${name}^{commit}`]),
  ]);
  if (commit === undefined) throw unknownRevision(text, 'ref');
  if (head === undefined) throw unborn();
  if (name === undefined) return { onto: commit, autosquash, branch: undefined };
  if (tip === undefined) throw unknownRevision(name, 'branch');
  return { onto: commit, autosquash, branch: { name, tip } };
}

async function replay(plan: Plan, saved: SavedRecovery, context: ToolContext): Promise<z.output<typeof data>> {
  const { git, workspace } = context;
  const { onto, branch } = plan;
  const [added, tracked] = await Promise.all([
    addedOnTheWay(git, `${onto}..${branch?.tip ?? saved.head}`),
    git.run({ words: ['ls-files', '-z'], access: 'read' }),
  ]);
  const known = new Set(tracked.stdout.toString('latin1').split('\0'));
  await refuseOverwriting([...saved.touched, ...added], known, workspace);
  const output = await git.run({
    words: ['rebase', ...rebaseOptions(plan), onto, ...(branch === undefined ? [] : [branch.name])],
    access: 'write',
    env: await rebaseEnvironment(context),
    accept: [0, 1, 128],
  });
  if (output.code !== 0) throw await putBack(output, saved, context);
  const [now, { stdout }] = await Promise.all([
    readHead(git),
    git.run({ words: ['rev-list', '--count', `${onto}..HEAD`], access: 'read' }),
  ]);
  if (now.head !== null) await reportChanges(git, context, { from: saved.head, to: now.head });
  return { rebased: true, ...now, commits: Number(stdout.toString('latin1').trim()), recovery: saved.ref };
}

/** Names commits bring and perhaps take away again: on the way they are written too. */
async function addedOnTheWay(git: GitRepository, range: string): Promise<readonly ChangedFile[]> {
  const { stdout } = await git.run({
    words: ['log', '--format=', '-z', '--raw', '--no-abbrev', '--no-renames', '--diff-filter=A', range, '--'],
    access: 'read',
  });
  return parseRawDiff(stdout.toString('latin1'));
}

function rebaseOptions({ autosquash }: Plan): readonly string[] {
  return [
    ...['--quiet', '--no-stat', '--no-verify', '--no-autostash', '--no-update-refs', '--no-gpg-sign'],
    ...['--no-fork-point', '--empty=drop', '--no-rerere-autoupdate'],
    // Older versions fold commits only when the list of them is offered to an editor: ours changes nothing.
    ...(autosquash ? ['--interactive', '--autosquash'] : ['--no-autosquash']),
  ];
}

/** Git's own way back first, then the recovery point over it: git restores what it calls the same, we the bytes. */
async function putBack(output: GitOutput, saved: SavedRecovery, context: ToolContext) {
  const { git } = context;
  const [conflicts, begun] = await Promise.all([unmergedPaths(git), isUnderWay(git)]);
  if (!begun) {
    const next = 'read the message of git in details.stderr';
    return gitRefused({ what: 'Git did not rebase', next, path: 'ref' }, output, saved);
  }
  await git.run({ words: ['rebase', '--abort'], access: 'write', accept: [0, 1, 128] });
  await restoreRecovery(context, await readRecovery(git, saved.ref), { present: saved });
  return gitFailure(`Rebase stopped and was undone: ${conflicts[0] ?? 'git could not go on'}`, {
    path: 'ref',
    reason: conflicts.length > 0 ? 'conflicts' : 'stopped',
    next: 'merge instead (git_merge, or git_pull {"rebase":false}) and resolve the conflicts there, or change the commits so that they fit',
    details: { conflicts: [...conflicts], stderr: output.stderr.trim().slice(0, 2000), recovery: saved.ref },
  });
}

async function isUnderWay({ files }: GitRepository): Promise<boolean> {
  const [merging, applying] = await Promise.all([files.list('rebase-merge'), files.list('rebase-apply')]);
  return merging.length + applying.length > 0;
}

function unborn() {
  return gitFailure('There is no commit to rebase yet', {
    path: 'ref',
    reason: 'unborn',
    next: 'commit first',
  });
}

function presentRebase({ rebased, head, branch, commits, recovery }: z.output<typeof data>): string {
  const what = rebased ? `rebased ${branch ?? 'HEAD'}: ${counted(commits, 'commit')} on top` : 'rebase changed nothing';
  return `${what}, now at ${shortHash(head)}\n${goBack(recovery)}`;
}
