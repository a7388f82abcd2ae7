/** Where HEAD is now, and which files are in conflict. */
import type { GitRepository } from '../../../contracts/git.ts';
import { findObjects } from '../../../git/resolve-revisions.ts';
import { toShown } from '../recovery/raw-path.ts';

export interface Head {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Without refs/heads/; null when detached. */
  readonly branch: string | null;
}

export async function readHead(git: GitRepository): Promise<Head> {
  const [[head], name] = await Promise.all([
    findObjects(git, ['HEAD']),
    git.run({ words: ['symbolic-ref', '--quiet', 'HEAD'], access: 'read', accept: [0, 1] }),
  ]);
  return { head: head ?? null, branch: name.code === 0 ? shortBranch(name.stdout.toString('utf8').trim()) : null };
}

export function shortBranch(branch: string): string;
export function shortBranch(branch: string | null): string | null;
export function shortBranch(branch: string | null): string | null {
  return branch?.replace(/^refs\/heads\//, '') ?? null;
}

/** Sorted, each once. */
export async function unmergedPaths(git: GitRepository): Promise<readonly string[]> {
  const { stdout } = await git.run({ words: ['ls-files', '--unmerged', '-z'], access: 'read' });
  const records = stdout.toString('latin1').split('\0').filter(Boolean);
  return [...new Set(records.map((record) => toShown(record.slice(record.indexOf('\t') + 1))))];
}
