/** Counts of what became of the requests. */
import { type Landing, normalLines } from './cases.ts';
import type { Matcher } from './matchers.ts';

export interface Score {
  right: number;
  /** At the right place, but blanks or quotes differ from what they should be. */
  marred: number;
  refused: number;
  wrong: number;
  placeable: number;
  /** Right, of the placeable ones. */
  placed: number;
  readonly mistakes: string[];
  /** Placeable and refused. */
  readonly misses: string[];
}

export function score(matcher: Matcher, requests: readonly Landing[]): Score {
  const total: Score = { right: 0, marred: 0, refused: 0, wrong: 0, placeable: 0, placed: 0, mistakes: [], misses: [] };
  for (const request of requests) {
    if (matcher.form === 'diff' ? request.diff === undefined : request.isOnlyDiff) continue;
    const result = matcher.place(request);
    const isPlaceable = request.placeable[matcher.form];
    const label = `${request.name}, ${request.spoil}`;
    if (isPlaceable) total.placeable++;
    if (result === undefined) {
      total.refused++;
      if (isPlaceable) total.misses.push(label);
    } else if (result === request.expected) {
      total.right++;
      if (isPlaceable) total.placed++;
    } else if (normalLines(result) === normalLines(request.expected)) {
      total.marred++;
      total.mistakes.push(`${label} (marred)`);
    } else {
      total.wrong++;
      total.mistakes.push(label);
    }
  }
  return total;
}
