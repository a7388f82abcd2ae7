/**
 * Steps over the parts of a pattern in which brackets and bars mean nothing.
 * Made for patterns the engine accepts; on others the answer is some index further on, never one further back.
 */

/** The index after an escape, a named class (`\p{Greek}`) or a `\Q…\E` quotation that starts at `at`. */
export function skipEscape(source: string, at: number): number {
  const kind = source[at + 1];
  if (kind === 'p' || kind === 'P')
    return source[at + 2] === '{' ? source.indexOf('}', at) + 1 || source.length : at + 3;
  if (kind !== 'Q') return at + 2;
  const end = source.indexOf('\\E', at + 2);
  return end === -1 ? source.length : end + 2;
}

/** The index after a character class that starts at `at`; a `]` in first position is a member. */
export function skipClass(source: string, at: number): number {
  let next = at + 1;
  if (source[next] === '^') next++;
  if (source[next] === ']') next++;
  while (next < source.length && source[next] !== ']') {
    if (source[next] === '\\') next += 2;
    else if (source.startsWith('[:', next)) next = Math.max(source.indexOf(':]', next), next) + 2;
    else next++;
  }
  return next + 1;
}
