/** Binary search in a list sorted by start. */
import type { Extent } from './raw-facts.ts';

/** Place of the first element that does not start before `offset`. */
export function firstFrom(sorted: readonly Extent[], offset: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
