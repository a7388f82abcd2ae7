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
