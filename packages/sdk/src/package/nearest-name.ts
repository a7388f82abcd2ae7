/** The known name a wrong one was probably meant to be; a hint for people and models, never used to resolve. */

const MAX_EDITS = 3;
const MAX_LENGTH = 64;

/** Undefined when nothing is close. The first of equally close names wins. */
export function nearestName(wanted: string, known: Iterable<string>): string | undefined {
  if (wanted.length > MAX_LENGTH) return undefined;
  let allowed = Math.min(MAX_EDITS, Math.floor(wanted.length / 3));
  let nearest: string | undefined;
  for (const name of known) {
    const edits = editDistance(wanted, name, allowed);
    if (edits > allowed) continue;
    nearest = name;
    allowed = edits - 1;
  }
  return nearest;
}

/** Gives up, with a number above `limit`, as soon as no way of editing can stay within it. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1;
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const substitution = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    if (Math.min(...current) > limit) return limit + 1;
    above = current;
  }
  return above[to.length] ?? limit + 1;
}
