/**
 * Freezes what a commit would take: a copy of the index that nothing else writes, and the tree it makes. Rules look at that
 * tree and the commit is made from that copy, so a change of the real index in between changes neither.
 */
import { randomBytes } from 'node:crypto';
import type { CommitCandidate, GitRepository } from '../contracts/git.ts';
import { gitFailure } from '../git/git-failure.ts';

/** `from`: name of the index in the git folder; hooks of `git commit -a` are handed another one than usual. */
export async function freezeCandidate(
  git: GitRepository,
  signal: AbortSignal,
  from = 'index',
): Promise<CommitCandidate> {
  const index = `tool-runtime-${randomBytes(8).toString('hex')}.index`;
  const current = await git.files.read(from);
  if (current !== undefined) await git.files.write(index, current, { exclusive: true });
  const written = await git.run({ words: ['write-tree'], access: 'write', index, signal, accept: [0, 128] });
  if (written.code === 0) return { index, tree: written.stdout.toString('utf8').trim() };
  await discardCandidate(git, { index, tree: '' });
  throw gitFailure('Nothing can be committed while files are unmerged', {
    reason: 'unmerged',
    next: 'resolve them (git_conflicts shows how they stand), add them, then commit',
    details: { stderr: written.stderr.trim().slice(0, 2000) },
  });
}

export async function discardCandidate(git: GitRepository, { index }: CommitCandidate): Promise<void> {
  await git.files.remove(index);
}
