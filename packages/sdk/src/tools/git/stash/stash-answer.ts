/** What git_stash answers: one form for all its actions. */
import { z } from 'zod';
import { gitFailure } from '../../../git/git-failure.ts';
import type { Stash } from './read-stashes.ts';

const stash = z.strictObject({
  index: z.int(),
  commit: z.string(),
  message: z.string(),
  time: z.string(),
});

export const stashAnswer = z.strictObject({
  done: z.boolean().describe('False when there was nothing to put aside, or conflicts came up'),
  stashes: z.array(stash).describe('list: all; otherwise the one concerned'),
  conflicts: z.array(z.string()).describe('apply, pop: files to resolve; the stash is kept then'),
  files: z.array(z.string()).describe('show: files it changes'),
  untracked: z.array(z.string()).describe('show: files it brings that git did not know'),
  patch: z.string().describe('show: the changes of tracked files'),
  truncated: z.boolean().describe('show: there is more of the patch'),
  recovery: z.string().nullable().describe('For git_recover: the state before; null when nothing was changed'),
});
export type StashAnswer = z.output<typeof stashAnswer>;

export const NOTHING_SHOWN = { conflicts: [], files: [], untracked: [], patch: '', truncated: false };

export function toldStash({ hash, message, time }: Stash, index: number): z.output<typeof stash> {
  return { index, commit: hash, message, time: new Date(time * 1000).toISOString() };
}

/** Throws E_GIT when there are not so many. */
export function stashAt(stashes: readonly Stash[], index: number): Stash {
  const found = stashes[index];
  if (found !== undefined) return found;
  throw gitFailure(`Stash not found: ${index}`, {
    path: 'index',
    reason: 'unknown_stash',
    next: stashes.length === 0 ? 'there are no stashes' : `give a number from 0 to ${stashes.length - 1}`,
  });
}
