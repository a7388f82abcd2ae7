/**
 * git_merge: merges a branch into the one that is checked out.
 *
 * Conflicts are an answer, not an error: the merge stays under way, to be finished with git_continue or given up with
 * git_abort.
 */
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { GitOutput } from '../../contracts/git.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { checkRevision } from '../../git/ref-names.ts';
import { findObjects, unknownRevision } from '../../git/resolve-revisions.ts';
import { goBack, nameRows, shortHash } from '../../present/rows.ts';
import { committerEnvironment } from './committer.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import { gitRefused, shortBranch, unmergedPaths, warnOfConflicts } from './operation-state.ts';
import { namingRecovery } from './recovery/recovery-note.ts';
import { type SavedRecovery, saveRecovery } from './recovery/save-recovery.ts';
import { refuseOverwriting, reportChanges, reportDirty } from './report-changes.ts';

const args = z
  .strictObject({
    ref: z.string().min(1).describe('What to merge: a branch, tag or commit'),
    no_ff: z.boolean().default(true).describe('Make a merge commit even where a fast-forward is possible'),
    message: z
      .string()
      .max(65_536)
      .refine((text) => text.trim() !== '' && !text.includes('\0'), 'Message is empty')
      .exactOptional()
      .describe('Message of the merge commit'),
    squash: z.boolean().default(false).describe('Only stage what the branch brings; commit it with git_commit'),
  })
  .refine(({ message, squash }) => message === undefined || !squash, 'With squash, git_commit takes the message');
type Args = z.output<typeof args>;

const data = z.strictObject({
  merged: z.boolean(),
  conflicts: z.array(z.string()).describe('Files to resolve; the merge is still under way then'),
  commit: z.string().optional().describe('Where the branch is now'),
  fast_forward: z.boolean(),
  up_to_date: z.boolean(),
  recovery: z.string().describe('For git_recover: the state before'),
});

export const gitMerge = defineTool({
  name: 'git_merge',
  category: 'git',
  title: 'Merge',
  summary: 'Merge a branch into the current one',
  policyNotes: 'Needs a clean tree; conflicts leave the merge under way; hooks and merge drivers do not run',
  args,
  data,
  annotations: { ...WRITE_GIT, arg_schema: { arg_aliases: { branch: 'ref' }, required: ['ref'] } },
  effect: 'write',
  risk: 'medium',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: ({ message }) => ({ verb: 'merge', ...(message === undefined ? {} : { message }) }),
  present: presentMerge,
  run: merge,
});

async function merge(given: Args, context: ToolContext): Promise<z.output<typeof data>> {
  const other = await findOther(given.ref, context);
  const saved = await saveRecovery(context, { verb: 'merge', target: other.commit });
  if (saved.head === null) throw unborn();
  return namingRecovery(saved, () => mergeIn({ given, other, saved }, context));
}

interface Wanted {
  readonly given: Args;
  readonly other: Other;
  readonly saved: SavedRecovery;
}

async function mergeIn({ given, other, saved }: Wanted, context: ToolContext): Promise<z.output<typeof data>> {
  const { git, workspace } = context;
  const tracked = saved.dirty.entries.filter(({ kind }) => kind !== 'untracked').map(({ path }) => path);
  await refuseOverwriting(saved.touched, new Set(tracked), workspace);
  const output = await git.run({
    words: ['merge', ...mergeOptions(given), other.commit],
    access: 'write',
    stdin: given.message ?? defaultMessage(other.title, saved),
    env: { ...(await committerEnvironment(context)), ...plainMergeOptions(saved) },
    accept: [0, 1, 2, 128],
  });
  return answer(context, { output, saved, squash: given.squash, other: other.commit });
}

function mergeOptions({ no_ff, squash }: Args): readonly string[] {
  const quiet = ['--quiet', '--no-edit', '--no-stat', '--no-verify', '--no-autostash', '--no-gpg-sign'];
  // No configured strategy: it could be a program, or drop a side.
  const always = [...quiet, '--strategy=ort'];
  if (squash) return [...always, '--squash'];
  // Git's own reading of standard input as a message is missing here; the kernel's name for it will do.
  return [...always, '--commit', '--no-squash', no_ff ? '--no-ff' : '--ff', '--file=/dev/stdin'];
}

/** A branch may carry options of its own for merges into it: the caller's are the ones that count. */
function plainMergeOptions({ branch }: SavedRecovery): Record<string, string> {
  if (branch === null) return {};
  const key = `branch.${shortBranch(branch)}.mergeoptions`;
  return { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: key, GIT_CONFIG_VALUE_0: '' };
}

interface Other {
  readonly commit: string;
  /** As the first line of a merge commit names it. */
  readonly title: string;
}

async function findOther(ref: string, { git }: ToolContext): Promise<Other> {
  const text = checkRevision(ref, 'ref');
  const [local, remote, tag, any] = await findObjects(
    git,
    [`refs/heads/${text}`, `refs/remotes/${text}`, `refs/tags/${text}`, text].map((name) => `${name}^{commit}`),
  );
  if (local !== undefined) return { commit: local, title: `branch '${text}'` };
  if (remote !== undefined) return { commit: remote, title: `remote-tracking branch '${text}'` };
  if (any === undefined) throw unknownRevision(text, 'ref');
  return { commit: any, title: `${tag === any ? 'tag' : 'commit'} '${safeText(text, 120)}'` };
}

function defaultMessage(title: string, { branch }: SavedRecovery): string {
  const into = shortBranch(branch) ?? 'HEAD';
  return `Merge ${title}${['main', 'master'].includes(into) ? '' : ` into ${into}`}\n`;
}

interface Done {
  readonly output: GitOutput;
  readonly saved: SavedRecovery;
  readonly squash: boolean;
  readonly other: string;
}

async function answer(context: ToolContext, done: Done): Promise<z.output<typeof data>> {
  const { git } = context;
  const { output, saved, squash, other } = done;
  const [[head], conflicts] = await Promise.all([findObjects(git, ['HEAD']), unmergedPaths(git)]);
  const told = { conflicts: [...conflicts], recovery: saved.ref };
  if (conflicts.length > 0) {
    await reportDirty(git, context);
    warnOfConflicts(context, conflicts, 'merge');
    return { ...told, merged: false, fast_forward: false, up_to_date: false };
  }
  if (output.code !== 0 || head === undefined) {
    const next = 'read the message of git in details.stderr';
    throw gitRefused({ what: 'Git did not merge', next, path: 'ref' }, output, saved);
  }
  if (squash) await reportDirty(git, context);
  else await reportChanges(git, context, { from: saved.head, to: head });
  const moved = head !== saved.head;
  return {
    ...told,
    merged: true,
    commit: head,
    fast_forward: moved && head === other,
    up_to_date: !moved && !squash,
  };
}

function unborn() {
  return gitFailure('There is no commit to merge into yet', {
    path: 'ref',
    reason: 'unborn',
    next: 'commit first, or make the branch from the other one: git_checkout with create and start',
  });
}

function presentMerge(done: z.output<typeof data>): string {
  const { conflicts, commit, fast_forward, up_to_date, recovery } = done;
  const how = fast_forward ? 'fast-forwarded' : 'merged';
  const what = up_to_date
    ? 'already up to date'
    : conflicts.length > 0
      ? 'merge stopped'
      : `${how}, now at ${shortHash(commit)}`;
  return [what, ...nameRows('conflicts in:', conflicts), goBack(recovery)].join('\n');
}
