/**
 * Which lines differ between two texts: Myers' greedy algorithm on what is left when equal ends are cut off.
 *
 * Texts that differ in more lines than the limit are one single run: right, only longer than it could be.
 */

export interface LineRun {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

const MAX_DISTANCE = 2_000;

export function lineRuns(old: readonly string[], fresh: readonly string[]): readonly LineRun[] {
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let [oldEnd, newEnd] = [old.length, fresh.length];
  while (oldEnd > head && newEnd > head && old[oldEnd - 1] === fresh[newEnd - 1]) {
    oldEnd--;
    newEnd--;
  }
  if (head === oldEnd && head === newEnd) return [];
  const matches = matchLines(old.slice(head, oldEnd), fresh.slice(head, newEnd));
  return runsBetween(matches, { head, oldEnd, newEnd });
}

interface Frame {
  readonly head: number;
  readonly oldEnd: number;
  readonly newEnd: number;
}

function runsBetween(matches: readonly (readonly [number, number])[], { head, oldEnd, newEnd }: Frame): LineRun[] {
  const runs: LineRun[] = [];
  let [oldAt, newAt] = [head, head];
  for (const [x, y] of [...matches.map(([a, b]) => [a + head, b + head] as const), [oldEnd, newEnd] as const]) {
    if (x > oldAt || y > newAt) runs.push({ oldStart: oldAt, oldEnd: x, newStart: newAt, newEnd: y });
    [oldAt, newAt] = [x + 1, y + 1];
  }
  return runs;
}

/** Pairs of equal lines on a shortest way from one text to the other. */
function matchLines(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
  const limit = Math.min(old.length + fresh.length, MAX_DISTANCE);
  const offset = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  for (let distance = 0; distance <= limit; distance++) {
    trace.push(furthest.slice(offset - distance - 1, offset + distance + 2));
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const down = furthest[offset + diagonal + 1] ?? 0;
      const right = furthest[offset + diagonal - 1] ?? 0;
      const goesDown = diagonal === -distance || (diagonal !== distance && right < down);
      let x = goesDown ? down : right + 1;
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x++;
      furthest[offset + diagonal] = x;
      if (x >= old.length && x - diagonal >= fresh.length) return walkBack(trace, old.length, fresh.length);
    }
  }
  return [];
}

function walkBack(trace: readonly Int32Array[], oldLength: number, newLength: number): (readonly [number, number])[] {
  const matches: (readonly [number, number])[] = [];
  let [x, y] = [oldLength, newLength];
  for (let distance = trace.length - 1; distance >= 0; distance--) {
    const row = trace[distance] as Int32Array;
    // A row begins at diagonal -distance - 1.
    const reached = (diagonal: number) => row[diagonal + distance + 1] ?? 0;
    const diagonal = x - y;
    const goesDown = diagonal === -distance || (diagonal !== distance && reached(diagonal - 1) < reached(diagonal + 1));
    const previous = goesDown ? diagonal + 1 : diagonal - 1;
    const startX = distance === 0 ? 0 : reached(previous) + (goesDown ? 0 : 1);
    while (x > startX && y > startX - diagonal) matches.push([--x, --y]);
    if (distance > 0) [x, y] = [reached(previous), reached(previous) - previous];
  }
  return matches.reverse();
}
