/**
 * git_pull: fetches, then puts the current branch on top of its remote counterpart, or merges that in.
 *
 * The second half is git_rebase or git_merge as they are: a rebase that meets a conflict is taken back, a merge is left
 * under way.
 */
import { z } from 'zod';
import type { GitRepository } from '../../contracts/git.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { currentBranch } from '../../git/head-commit.ts';
import { findObjects } from '../../git/resolve-revisions.ts';
import { goBack, nameRows, shortHash } from '../../present/rows.ts';
import { fetchRemote } from './fetch-remote.ts';
import { GIT_LOCKS, REMOTE_GIT } from './git-annotations.ts';
import { gitMerge } from './git-merge.ts';
import { gitRebase } from './git-rebase.ts';

const args = z.strictObject({
  remote: z.string().min(1).default('origin').describe('Name of a configured remote'),
  rebase: z.boolean().default(true).describe("Put own commits on top of the remote's; false: merge"),
});

const data = z.strictObject({
  pulled: z.boolean(),
  remote: z.string(),
  upstream: z.string().describe('Remote-tracking branch the current one was brought up to'),
  up_to_date: z.boolean().describe('There was nothing to bring in'),
  head: z.string().nullable(),
  conflicts: z.array(z.string()).describe('Files to resolve; a merge is under way then'),
  recovery: z.string().optional().describe('For git_recover: the state before'),
});
type Data = z.output<typeof data>;

export const gitPull = defineTool({
  name: 'git_pull',
  category: 'git',
  title: 'Pull',
  summary: 'Bring the current branch up to its remote counterpart',
  policyNotes:
    'Needs a clean tree; the remote must be configured and its host allowed; an ssh remote needs the agent and a known host key',
  args,
  data,
  annotations: REMOTE_GIT,
  effect: 'network',
  risk: 'high',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: ({ remote }) => ({ verb: 'pull', remote }),
  present: presentPull,
  run: pull,
});

async function pull({ remote, rebase }: z.output<typeof args>, context: ToolContext): Promise<Data> {
  const { git } = context;
  const branch = await currentBranch(git);
  if (branch === undefined) throw detached();
  await fetchRemote(git, { remote, prune: false, tags: false });
  const upstream = await counterpart(git, branch, remote);
  const [head, theirs] = await findObjects(git, ['HEAD^{commit}', `refs/remotes/${upstream}^{commit}`]);
  if (theirs === undefined) throw noCounterpart(upstream);
  const told = { remote, upstream, conflicts: [] };
  if (head !== undefined && (await contains(git, head, theirs))) {
    return { ...told, pulled: true, up_to_date: true, head };
  }
  if (rebase) {
    const done = await gitRebase.run({ ref: `refs/remotes/${upstream}`, autosquash: false }, context);
    return { ...told, pulled: true, up_to_date: false, head: done.head, recovery: done.recovery };
  }
  const done = await gitMerge.run({ ref: upstream, no_ff: false, squash: false }, context);
  const { merged, conflicts, commit = null, recovery } = done;
  return { ...told, pulled: merged, up_to_date: false, head: commit, conflicts, recovery };
}

/** What the branch is configured to follow at this remote, else the branch of the same name. */
async function counterpart(git: GitRepository, branch: string, remote: string): Promise<string> {
  const config = await git.config();
  const follows = config.get(`branch.${branch}.remote`) === remote;
  const merged = follows ? config.get(`branch.${branch}.merge`)?.replace(/^refs\/heads\//, '') : undefined;
  return `${remote}/${merged ?? branch}`;
}

/** Whether `theirs` is part of the history of `head` already. */
async function contains(git: GitRepository, head: string, theirs: string): Promise<boolean> {
  const words = ['merge-base', '--is-ancestor', theirs, head];
  return (await git.run({ words, access: 'read', accept: [0, 1] })).code === 0;
}

function detached() {
  return gitFailure('There is no current branch to pull into: HEAD is detached', {
    reason: 'detached',
    next: 'switch to a branch with git_checkout, or bring the commits in with git_fetch alone',
  });
}

function noCounterpart(upstream: string) {
  return gitFailure(`Remote has no such branch: ${upstream}`, {
    path: 'remote',
    reason: 'no_counterpart',
    next: 'push the branch first, or set what it follows with git_branch set_upstream',
  });
}

function presentPull({ upstream, up_to_date, head, conflicts, recovery }: z.output<typeof data>): string {
  const what = up_to_date ? `already up to date with ${upstream}` : `pulled ${upstream}, now at ${shortHash(head)}`;
  const back = recovery === undefined ? [] : [goBack(recovery)];
  return [
    conflicts.length > 0 ? `pulled ${upstream}, merge stopped` : what,
    ...nameRows('conflicts in:', conflicts),
    ...back,
  ].join('\n');
}
