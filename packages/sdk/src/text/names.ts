/** "Did you mean …": the closest known name, or none when nothing is close enough to be a slip of the fingers. */
import { safeText } from '@tool-runtime/protocol/internal';

const MAX_LENGTH = 64;

/** Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours each cost one. */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** Ties go to the candidate that comes first. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const limit = Math.min(3, Math.max(1, Math.floor(name.length / 3)));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH || Math.abs(candidate.length - name.length) > limit) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** ` (did you mean x?)`, or nothing, to append to a message. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
}

const SHOWN_CHARACTERS = 200;

/** A list of names for a message: the first few, and how many more there are. */
export function shownNames(names: readonly string[], separator = ', '): string {
  let shown = '';
  for (const [index, name] of names.entries()) {
    const longer = index === 0 ? safeText(name) : `${shown}${separator}${safeText(name)}`;
    // The first one is always named.
    if (index > 0 && longer.length > SHOWN_CHARACTERS) return `${shown}${separator}and ${names.length - index} more`;
    shown = longer;
  }
  return shown;
}
