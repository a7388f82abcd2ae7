/** git_push: one branch or tag to a configured remote. What is pushed is a hash; where to is spelled out in full. */
import type { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { policyDenial } from '../../contracts/failures.ts';
import type { GitOutput, GitRemote, GitRepository } from '../../contracts/git.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { currentBranch } from '../../git/current-branch.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { shown } from '../../git/ref-names.ts';
import { type PushSpec, parsePushSpec } from '../../git/refspec.ts';
import { findObjects, unknownRevision } from '../../git/resolve-revisions.ts';
import { compileGlobs } from '../../glob/match-glob.ts';
import { GIT_LOCKS, REMOTE_GIT } from './annotations/git-annotations.ts';
import { refusePush } from './remote/refuse-push.ts';

const args = z.strictObject({
  remote: z.string().min(1).default('origin').describe('Name of a configured remote'),
  refspec: z.string().min(1).default('HEAD').describe('Branch, or source:destination; HEAD is the current branch'),
  force: z.boolean().default(false).describe('Replace what the remote has, unless it moved since the last fetch'),
});

const data = z.strictObject({
  pushed: z.boolean(),
  remote: z.string(),
  destination: z.string().describe('Full name at the remote'),
  commit: z.string().nullable().describe('What it points to now; null when deleted'),
  up_to_date: z.boolean(),
});

type Args = z.output<typeof args>;

export const gitPush = defineTool({
  name: 'git_push',
  category: 'git',
  title: 'Push',
  summary: 'Publish a branch at a configured remote',
  policyNotes:
    'Only with git.allow_push; force and deletion only with git.allow_force_push, never on protected branches; the host must be allowed',
  args,
  data,
  annotations: REMOTE_GIT,
  effect: 'network',
  risk: 'critical',
  rehearse: 'none',
  timeoutMs: 600_000,
  locks: GIT_LOCKS,
  hiddenBy: (registry) => (registry.git.allow_push ? undefined : refusePush(registry)),
  git: ({ remote, force, refspec }) => ({ verb: 'push', remote, force: force || refspec.startsWith('+') }),
  run: push,
});

async function push(given: Args, context: ToolContext): Promise<z.output<typeof data>> {
  const { git, registry } = context;
  const spec = parsePushSpec(given.refspec);
  const remote = await git.remote(given.remote, 'push');
  const { hash, destination } = await resolveSides(git, spec);
  const isForced = given.force || spec.force || hash === undefined;
  if (isForced) checkForce(destination, { given, spec }, registry);
  const output = await git.run({
    words: [
      ...['push', '--porcelain', '--no-verify', '--no-recurse-submodules', '--no-signed', '--no-follow-tags'],
      ...(isForced ? ['--force-with-lease'] : []),
      ...(remote.peer === undefined ? [] : [remote.peer]),
      '--end-of-options',
      remote.name,
      `${hash ?? ''}:${destination}`,
    ],
    access: 'write',
    remote,
    accept: [0, 1],
  });
  return {
    pushed: true,
    remote: remote.name,
    destination,
    commit: hash ?? null,
    up_to_date: flagOf(output, remote, destination) === '=',
  };
}

interface Sides {
  /** Undefined: the destination is deleted. */
  readonly hash: string | undefined;
  readonly destination: string;
}

/** A branch goes to its own name unless said otherwise, and so does a tag; a bare commit has no name to go to. */
async function resolveSides(git: GitRepository, { source, destination }: PushSpec): Promise<Sides> {
  if (source === undefined) return { hash: undefined, destination: destination ?? '' };
  const named =
    source === 'HEAD' ? ((await currentBranch(git)) ?? 'HEAD') : source.replace(/^refs\/(?:heads|tags)\//, '');
  const asked = [`${source}^{object}`, `refs/heads/${named}`, `refs/tags/${named}`];
  const [hash, branch, tag] = await findObjects(git, asked);
  if (hash === undefined) throw unknownRevision(source, 'refspec');
  if (destination !== undefined) return { hash, destination };
  if (branch !== undefined && !source.startsWith('refs/tags/')) return { hash, destination: `refs/heads/${named}` };
  if (tag !== undefined) return { hash, destination: `refs/tags/${named}` };
  throw gitFailure(`Where to push is not said: ${shown(source)}`, {
    path: 'refspec',
    reason: 'no_destination',
    next: 'write source:refs/heads/<branch>',
  });
}

function checkForce(
  destination: string,
  { given, spec }: { readonly given: Args; readonly spec: PushSpec },
  registry: ToolContext['registry'],
): void {
  const branch = destination.replace(/^refs\/(?:heads|tags)\//, '');
  if (compileGlobs(registry.protectedBranches)(branch)) {
    throw policyDenial(`Protected branch cannot be replaced or deleted: ${branch}`, {
      path: 'refspec',
      details: { gate: 'git_push', reason: 'protected_branch', next: 'push without force, or to another branch' },
    });
  }
  if (!registry.git.allow_force_push) {
    throw policyDenial('Forced push is not allowed: git.allow_force_push is false', {
      path: 'force',
      details: {
        gate: 'git_push',
        reason: 'force_forbidden',
        next: 'push without force, or have the operator set git.allow_force_push: true',
      },
    });
  }
  if (!given.force && (spec.force || spec.source === undefined)) {
    throw policyDenial('Refspec asks for force, the call does not', {
      path: 'refspec',
      details: {
        gate: 'git_push',
        reason: 'force_not_said',
        next: 'say force: true, or leave out the + or the deletion',
      },
    });
  }
}

/** `flag TAB from:to TAB summary`, one line a reference; `!` is a refusal of the other side. */
function flagOf({ stdout, stderr, code }: GitOutput, remote: GitRemote, destination: string): string {
  const line = stdout
    .toString('utf8')
    .split('\n')
    .find((text) => text.split('\t')[1]?.endsWith(`:${destination}`) === true);
  const [flag = '', , summary = ''] = line?.split('\t') ?? [];
  if (line !== undefined && flag !== '!' && code === 0) return flag;
  throw rejected(remote, destination, summary.trim() || stderr.trim().slice(0, 500));
}

function rejected(remote: GitRemote, destination: string, why: string): ToolError {
  return gitFailure(`Remote refused the push: ${why || 'no reason given'}`, {
    path: 'refspec',
    reason: 'rejected',
    next: 'bring in what the remote has (git_pull), then push again',
    details: { remote: remote.name, destination },
  });
}
