/** git_push: one branch or tag to a configured remote. What is pushed is a hash; where to is spelled out in full. */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { policyDenial } from '../../contracts/failures.ts';
import type { GitOutput, GitRemote, Publication } from '../../contracts/git.ts';
import type { Registry } from '../../contracts/registry.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { shortHash } from '../../present/rows.ts';
import { GIT_LOCKS, REMOTE_GIT } from './git-annotations.ts';

const args = z.strictObject({
  remote: z.string().min(1).default('origin').describe('Name of a configured remote'),
  ref: z.string().min(1).default('HEAD').describe('Branch, or source:destination; HEAD is the current branch'),
  force: z.boolean().default(false).describe('Replace what the remote has, unless it moved since the last fetch'),
  set_upstream: z
    .boolean()
    .exactOptional()
    .describe(
      'Let the branch follow what was pushed; default: when it follows nothing yet and goes to a branch of its own name',
    ),
});

const data = z.strictObject({
  pushed: z.boolean(),
  remote: z.string(),
  destination: z.string().describe('Full name at the remote'),
  commit: z.string().nullable().describe('What it points to now; null when deleted'),
  up_to_date: z.boolean(),
  upstream: z.string().nullable().describe('What the pushed branch follows now; null: nothing, or it is no branch'),
});

type Args = z.output<typeof args>;

export const gitPush = defineTool({
  name: 'git_push',
  category: 'git',
  title: 'Push',
  summary: 'Publish a branch at a configured remote',
  policyNotes:
    'Only with git.allow_push; what the remote does not have must pass the commit rules; force and deletion only with git.allow_force_push, never on protected branches; the host must be allowed',
  args,
  data,
  annotations: { ...REMOTE_GIT, arg_schema: { arg_aliases: { refspec: 'ref', branch: 'ref' } } },
  effect: 'network',
  writes: 'unknown',
  risk: 'critical',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  hiddenBy: (registry) => (registry.git.allow_push ? undefined : refusePush(registry)),
  git: ({ remote, force, ref }) => ({ verb: 'push', remote, refspec: ref, force }),
  present: presentPush,
  run: push,
});

async function push(given: Args, { git, publication, warn }: ToolContext): Promise<z.output<typeof data>> {
  if (publication === undefined) throw new TypeError('A push was started without its gate');
  const { remote, hash, destination, isForced } = publication;
  const output = await git.run({
    words: [
      ...['push', '--porcelain', '--no-verify', '--no-recurse-submodules', '--no-signed', '--no-follow-tags'],
      ...(isForced ? ['--force-with-lease'] : []),
      ...(remote.peer === undefined ? [] : [remote.peer.receivePack]),
      '--end-of-options',
      remote.alias,
      `${hash ?? ''}:${destination}`,
    ],
    access: 'write',
    remote,
    accept: [0, 1],
  });
  const flag = flagOf(output, remote, destination);
  return {
    pushed: true,
    remote: remote.name,
    destination,
    commit: hash ?? null,
    up_to_date: flag === '=',
    upstream: await follow(publication, given.set_upstream, { git, warn }),
  };
}

/** What was pushed stays pushed: a branch that cannot be made to follow it is a warning. */
async function follow(
  { branch, destination, remote }: Publication,
  asked: boolean | undefined,
  { git, warn }: Pick<ToolContext, 'git' | 'warn'>,
): Promise<string | null> {
  if (branch === undefined || !destination.startsWith('refs/heads/')) return null;
  const config = await git.config();
  const [itsRemote, merged] = [config.get(`branch.${branch}.remote`), config.get(`branch.${branch}.merge`)];
  const present = itsRemote === undefined || merged === undefined ? null : shortUpstream(itsRemote, merged);
  const isFirst = present === null && destination === `refs/heads/${branch}`;
  if (!(asked ?? isFirst)) return present;
  try {
    for (const [key, value] of [
      ['remote', remote.name],
      ['merge', destination],
    ] as const) {
      await git.run({
        words: ['config', '--local', '--replace-all', `branch.${branch}.${key}`, value],
        access: 'write',
      });
    }
    return shortUpstream(remote.name, destination);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const next = 'set it with git_branch set_upstream';
    warn({ code: 'E_GIT', message: 'The upstream could not be set', details: { reason: 'no_upstream', next } });
    return present;
  }
}

function shortUpstream(remote: string, merged: string): string {
  const branch = merged.replace(/^refs\/heads\//, '');
  return remote === '.' ? branch : `${remote}/${branch}`;
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
    path: 'ref',
    reason: 'rejected',
    next: 'bring in what the remote has (git_pull), then push again',
    details: { remote: remote.name, destination },
  });
}

/** Why nothing may be pushed, with the line that decided. */
function refusePush(registry: Pick<Registry, 'spot'>): ToolError {
  const spot = registry.spot('git.allow_push');
  return policyDenial('Push is not allowed: git.allow_push is false', {
    details: {
      gate: 'route',
      reason: 'push_forbidden',
      field: 'git.allow_push',
      ...(spot === undefined ? {} : { registry: `${spot.file}:${spot.line}` }),
      next: 'have the operator set git.allow_push: true in the registry',
    },
  });
}

function presentPush({ remote, destination, commit, up_to_date }: z.output<typeof data>): string {
  if (up_to_date) return `${remote} has ${destination} at ${shortHash(commit)} already`;
  return commit === null
    ? `deleted ${destination} at ${remote}`
    : `pushed ${shortHash(commit)} to ${destination} at ${remote}`;
}
