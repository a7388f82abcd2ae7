/** The words that tell git what to compare with what: hashes, or HEAD where the caller said nothing else. */
import type { GitRepository } from '../../contracts/git.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { resolveRevisions } from '../../git/resolve-revisions.ts';
import { parseRange } from '../../git/revision-range.ts';

export interface Compared {
  readonly rev: string;
  readonly to?: string | undefined;
  readonly staged: boolean;
}

export async function diffSides(git: GitRepository, { rev, to, staged }: Compared): Promise<readonly string[]> {
  const range = parseRange(rev);
  if ((range !== undefined || to !== undefined) && staged) throw twoAnswers('staged', 'a second revision');
  if (range !== undefined && to !== undefined) throw twoAnswers('to', 'a range in rev');
  if (range?.symmetric === true) {
    const [from, until] = await resolveRevisions(git, [
      { text: range.from, argument: 'rev' },
      { text: range.to, argument: 'rev' },
    ]);
    return [`${from}...${until}`];
  }
  const index = staged ? ['--cached'] : [];
  // Our own word then; it needs no look-up.
  if (rev === 'HEAD' && to === undefined) return [...index, 'HEAD'];
  const questions = [{ text: range?.from ?? rev, argument: 'rev', type: 'tree' as const }];
  const second = range?.to ?? to;
  if (second !== undefined) questions.push({ text: second, argument: to === undefined ? 'rev' : 'to', type: 'tree' });
  return [...index, ...(await resolveRevisions(git, questions))];
}

function twoAnswers(argument: string, other: string) {
  return gitFailure(`Only one of these can be compared with: ${argument} and ${other}`, {
    path: argument,
    reason: 'bad_range',
    next: `leave out ${argument}, or ${other}`,
  });
}
