/** For sorted positions, the innermost of sorted extents around each: one pass with a stack. */
import type { Extent } from './raw-facts.ts';

/** `extents` in file order, outer before inner. -1 where nothing is around. */
export function findOwners(extents: readonly Extent[], positions: readonly number[]): Int32Array {
  const owners = new Int32Array(positions.length);
  const open: number[] = [];
  let next = 0;
  for (let at = 0; at < positions.length; at++) {
    const position = positions[at] ?? 0;
    while (next < extents.length && (extents[next]?.start ?? 0) <= position) {
      const { start } = extents[next] as Extent;
      closeBefore(extents, open, start);
      open.push(next++);
    }
    closeBefore(extents, open, position);
    owners[at] = open.at(-1) ?? -1;
  }
  return owners;
}

function closeBefore(extents: readonly Extent[], open: number[], position: number): void {
  while (open.length > 0 && (extents[open.at(-1) ?? 0]?.end ?? 0) <= position) open.pop();
}
