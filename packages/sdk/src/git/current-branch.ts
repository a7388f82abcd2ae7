/** The branch HEAD names, read from git's own file: no process is worth this question. */
import type { GitRepository } from '../contracts/git.ts';

/** Undefined when HEAD is detached. The branch may have no commit yet. */
export async function currentBranch(git: Pick<GitRepository, 'files'>): Promise<string | undefined> {
  const head = (await git.files.read('HEAD'))?.toString('utf8') ?? '';
  return /^ref: refs\/heads\/(.+?)\s*$/s.exec(head)?.[1];
}
