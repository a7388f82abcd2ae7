/** Which extents are open around things visited in file order. Each extent is opened once and closed once. */
import type { Extent } from './raw-facts.ts';

export interface OpenExtents<T extends Extent> {
  /**
   * Those around `inner` that start after `after`, innermost first. `inner` must not start before the last one asked.
   * At most a handful: more are never needed, and in a file nested a hundred thousand deep all of them would be too many.
   */
  around(inner: Extent, after: number): readonly T[];
}

const NONE: readonly never[] = [];
const MOST = 8;

export function createOpenExtents<T extends Extent>(extents: readonly T[]): OpenExtents<T> {
  const sorted = extents.toSorted((left, right) => left.start - right.start || right.end - left.end);
  const open: T[] = [];
  let next = 0;
  return {
    around(inner, after) {
      for (let one = sorted[next]; one !== undefined && one.start <= inner.start; one = sorted[++next]) {
        closeBefore(open, one.start);
        open.push(one);
      }
      closeBefore(open, inner.start);
      let found: T[] | undefined;
      for (let at = open.length - 1; at >= 0 && (found?.length ?? 0) < MOST; at--) {
        const one = open[at];
        if (one === undefined || one.start <= after) break;
        if (one.end >= inner.end) found = found === undefined ? [one] : [...found, one];
      }
      return found ?? NONE;
    },
  };
}

function closeBefore(open: Extent[], position: number): void {
  while (open.length > 0 && (open.at(-1)?.end ?? 0) <= position) open.pop();
}

/**
 * Binary search in a list sorted by start.
 *
 * Place of the first element that does not start before `offset`.
 */
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

/**
 * For sorted positions, the innermost of sorted extents around each: one pass with a stack.
 *
 * `extents` in file order, outer before inner. -1 where nothing is around.
 */
export function findOwners(extents: readonly Extent[], positions: readonly number[]): Int32Array {
  const owners = new Int32Array(positions.length);
  const open: number[] = [];
  let next = 0;
  for (let at = 0; at < positions.length; at++) {
    const position = positions[at] ?? 0;
    while (next < extents.length && (extents[next]?.start ?? 0) <= position) {
      const { start } = extents[next] as Extent;
      dropEnded(extents, open, start);
      open.push(next++);
    }
    dropEnded(extents, open, position);
    owners[at] = open.at(-1) ?? -1;
  }
  return owners;
}

function dropEnded(extents: readonly Extent[], open: number[], position: number): void {
  while (open.length > 0 && (extents[open.at(-1) ?? 0]?.end ?? 0) <= position) open.pop();
}
