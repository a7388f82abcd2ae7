/** Where a run of characters or lines occurs, in time that grows with both together (Knuth, Morris, Pratt). */

/** Indexes in order. Without `overlap` the search goes on after each hit. An empty run is nowhere. */
export function findRuns(
  all: ArrayLike<string>,
  run: ArrayLike<string>,
  { overlap }: { readonly overlap: boolean },
): number[] {
  const found: number[] = [];
  if (run.length === 0) return found;
  const fallback = new Int32Array(run.length);
  for (let at = 1, length = 0; at < run.length; at++) {
    while (length > 0 && run[at] !== run[length]) length = fallback[length - 1] ?? 0;
    if (run[at] === run[length]) length++;
    fallback[at] = length;
  }
  for (let at = 0, matched = 0; at < all.length; at++) {
    while (matched > 0 && all[at] !== run[matched]) matched = fallback[matched - 1] ?? 0;
    if (all[at] === run[matched]) matched++;
    if (matched < run.length) continue;
    found.push(at - run.length + 1);
    matched = overlap ? (fallback[matched - 1] ?? 0) : 0;
  }
  return found;
}
