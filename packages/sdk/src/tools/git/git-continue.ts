/**
 * git_continue: goes on with a merge, rebase, cherry-pick or revert whose conflicts are resolved.
 *
 * It commits, so it passes the commit gate: a merge becomes exactly the tree that was checked. An
 * operation whose files are not as git writes them, such as a rebase that would run commands, is refused before it goes on.
 */
import { z } from 'zod';
import type { GitOutput } from '../../contracts/git.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { findObjects } from '../../git/resolve-revisions.ts';
import { goBack, nameRows, shortHash } from '../../present/rows.ts';
import { committerEnvironment, rebaseEnvironment } from './committer.ts';
import { GIT_LOCKS, WRITE_GIT } from './git-annotations.ts';
import {
  gitRefused,
  type Operation,
  operationUnderWay,
  readHead,
  readOperationState,
  unmergedPaths,
  warnOfConflicts,
} from './operation-state.ts';
import { namingRecovery } from './recovery/recovery-note.ts';
import { type SavedRecovery, saveRecovery } from './recovery/save-recovery.ts';
import { reportChanges } from './report-changes.ts';

const data = z.strictObject({
  operation: z.enum(['merge', 'rebase', 'cherry-pick', 'revert']),
  finished: z.boolean().describe('False when the next commit has conflicts too'),
  conflicts: z.array(z.string()),
  head: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.string().optional().describe('The commit that was made last'),
  recovery: z.string().describe('For git_recover: the state before'),
});
type Answer = z.output<typeof data>;

export const gitContinue = defineTool({
  name: 'git_continue',
  category: 'git',
  title: 'Continue',
  summary: 'Go on with a merge, rebase, cherry-pick or revert after its conflicts were resolved',
  policyNotes:
    'Passes the commit rules; refused when the files of the operation are not as git writes them, such as a plan that runs commands',
  args: z.strictObject({}),
  data,
  annotations: WRITE_GIT,
  effect: 'write',
  risk: 'medium',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: () => ({ verb: 'commit' }),
  present: presentContinued,
  run: goOn,
});

async function goOn(_: object, context: ToolContext): Promise<Answer> {
  const operation = operationUnderWay(await readOperationState(context.git));
  const saved = await saveRecovery(context, { verb: 'continue' });
  return namingRecovery(saved, async () => {
    const { git } = context;
    const output = operation === 'merge' ? await commitMerge(saved, context) : await proceed(operation, context);
    const [now, conflicts] = await Promise.all([readHead(git), unmergedPaths(git)]);
    if (output.code !== 0 && conflicts.length === 0) {
      const next = 'read the message of git in details.stderr';
      throw gitRefused({ what: 'Git did not go on', next }, output, saved);
    }
    if (conflicts.length > 0) warnOfConflicts(context, conflicts, operation);
    if (now.head !== null) await reportChanges(git, context, { from: saved.head, to: now.head });
    const commit = now.head === null || now.head === saved.head ? {} : { commit: now.head };
    const told = { finished: conflicts.length === 0, conflicts: [...conflicts], recovery: saved.ref };
    return { operation, ...told, ...now, ...commit };
  });
}

/** The message git prepared, its comments taken out by git itself. */
async function commitMerge({ state }: SavedRecovery, context: ToolContext): Promise<GitOutput> {
  const { git, candidate } = context;
  if (candidate === undefined) throw new TypeError('A commit was started without its gate');
  const message = state.find(({ name }) => name === 'MERGE_MSG')?.bytes ?? Buffer.from('Merge\n');
  const output = await git.run({
    words: ['commit', '--no-verify', '--quiet', '--no-gpg-sign', '--cleanup=strip', '--file=-'],
    access: 'write',
    index: await candidate.index.name(),
    stdin: message,
    env: await committerEnvironment(context),
    accept: [0, 1, 128],
  });
  if (output.code !== 0) return output;
  const [tree] = await findObjects(git, ['HEAD^{tree}']);
  if (tree === candidate.tree) return output;
  throw gitFailure('HEAD moved while the merge was committed', {
    reason: 'head_moved',
    next: 'check git_log: another program commits in this repository at the same time',
  });
}

async function proceed(operation: Operation, context: ToolContext): Promise<GitOutput> {
  return context.git.run({
    words: [operation, '--continue'],
    access: 'write',
    env: await rebaseEnvironment(context),
    accept: [0, 1, 128],
  });
}

function presentContinued(done: z.output<typeof data>): string {
  const { operation, finished, conflicts, head, branch, recovery } = done;
  return [
    `${operation} ${finished ? 'finished' : 'stopped again'} on ${branch ?? 'no branch'}, now at ${shortHash(head)}`,
    ...nameRows('conflicts in:', conflicts),
    goBack(recovery),
  ].join('\n');
}
