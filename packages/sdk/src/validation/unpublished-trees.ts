/** The trees of commits that no remote is known to have. */
import type { GitRepository } from '../contracts/git.ts';

/** More than these are not worth looking up one by one: the answer then holds a name that no pass is recorded for. */
const MAX_COMMITS = 1000;

/** Without any remote-tracking branch nothing tells what is published: then none are named. */
export async function unpublishedTrees(git: GitRepository): Promise<readonly string[]> {
  const [known, own] = await Promise.all([
    git.run({ words: ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/remotes/'], access: 'read' }),
    git.run({
      words: ['log', '--format=%T', `--max-count=${MAX_COMMITS + 1}`, 'HEAD', '--not', '--remotes', '--'],
      access: 'read',
    }),
  ]);
  if (known.stdout.length === 0) return [];
  const trees = own.stdout.toString('latin1').split('\n').filter(Boolean);
  return trees.length > MAX_COMMITS ? ['too many'] : trees;
}
