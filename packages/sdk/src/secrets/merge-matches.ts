/** One finding for one secret: of matches that share text, the most specific stays. */
import type { SecretMatch } from './secret-finding.ts';
import { describeKind } from './secret-kinds.ts';

/** In order of their place; at the same place the longer first. */
export function mergeMatches(matches: readonly SecretMatch[]): readonly SecretMatch[] {
  const inOrder = matches.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const kept: SecretMatch[] = [];
  for (const match of inOrder) {
    const last = kept.at(-1);
    if (last === undefined || match.start >= last.end) kept.push(match);
    else if (rankOf(match) > rankOf(last)) kept[kept.length - 1] = match;
  }
  return kept;
}

function rankOf(match: SecretMatch): number {
  return describeKind(match.kind).rank;
}
