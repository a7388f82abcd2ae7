/** Sorts the names of a folder of any size, with a turn for others in between. */

/** Names between two turns of the event loop. */
const SLICE_NAMES = 4096;

/** Those that are wanted, sorted. A small folder costs no turn. */
export async function sortedNames(
  names: readonly string[],
  isWanted: (name: string) => boolean,
): Promise<readonly string[]> {
  if (names.length <= SLICE_NAMES) return names.filter(isWanted).sort();
  let runs: (readonly string[])[] = [];
  for (let at = 0; at < names.length; at += SLICE_NAMES) {
    runs.push(
      names
        .slice(at, at + SLICE_NAMES)
        .filter(isWanted)
        .sort(),
    );
    await othersTurn();
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge(one: readonly string[], other: readonly string[]): Promise<readonly string[]> {
  const merged: string[] = [];
  for (let at = 0, next = 0; at < one.length || next < other.length; ) {
    const [left, right] = [one[at], other[next]];
    if (right === undefined || (left !== undefined && left <= right)) merged.push(one[at++] as string);
    else merged.push(other[next++] as string);
    if (merged.length % SLICE_NAMES === 0) await othersTurn();
  }
  return merged;
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
