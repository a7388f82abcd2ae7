/** git_fetch: brings a remote's branches into refs/remotes, and nothing else: no local branch, no work tree. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted, shortHash } from '../../present/rows.ts';
import { fetchRemote } from './fetch-remote.ts';
import { GIT_LOCKS, REMOTE_GIT } from './git-annotations.ts';

const args = z.strictObject({
  remote: z.string().min(1).default('origin').describe('Name of a configured remote'),
  prune: z.boolean().default(false).describe('Forget branches the remote no longer has'),
  tags: z.boolean().default(false).describe('Bring all tags, not only those of the fetched commits'),
});

const data = z.strictObject({
  fetched: z.boolean(),
  updated: z.array(
    z.strictObject({
      ref: z.string(),
      from: z.string().nullable().describe('Null for a new one'),
      to: z.string().nullable().describe('Null for one that is gone'),
    }),
  ),
});

export const gitFetch = defineTool({
  name: 'git_fetch',
  category: 'git',
  title: 'Fetch',
  summary: "Bring a remote's branches into remote-tracking references",
  policyNotes: 'The remote must be configured and its host allowed; an ssh remote needs the agent and a known host key',
  args,
  data,
  annotations: REMOTE_GIT,
  effect: 'network',
  writes: 'unknown',
  risk: 'medium',
  rehearse: 'none',
  timeoutMs: 30_000,
  locks: GIT_LOCKS,
  git: ({ remote }) => ({ verb: 'fetch', remote }),
  present: presentFetched,
  run: async (given, { git }) => ({ fetched: true, updated: [...(await fetchRemote(git, given))] }),
});

function presentFetched({ updated }: z.output<typeof data>): ToolText {
  const rows = updated.map(({ ref, from, to }) => `${ref}: ${shortHash(from)} → ${shortHash(to)}`);
  return {
    head: updated.length === 0 ? 'nothing new' : `${counted(updated.length, 'reference')} updated`,
    parts: [{ type: 'text', text: rows }],
  };
}
