/** Finds given texts in a text and covers them. Matches that overlap are covered together, so that no rest is left. */

export const REDACTED = '[redacted]';

/** From the first character to the one behind the last. */
export type Span = readonly [start: number, end: number];

/** In order; those that overlap are one. `covered` is the end of a match that began before this text. */
export function findSpans(text: string, values: readonly string[], covered = 0): Span[] {
  const found: Span[] = covered > 0 ? [[0, covered]] : [];
  for (const value of values) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) found.push([at, at + value.length]);
  }
  return found.length < 2 ? found : mergeSpans(found);
}

function mergeSpans(found: Span[]): Span[] {
  const merged: [number, number][] = [];
  for (const [start, end] of found.sort(([one], [other]) => one - other)) {
    const last = merged.at(-1);
    // Neighbours are two secrets, not one.
    if (last === undefined || start >= last[1]) merged.push([start, end]);
    else last[1] = Math.max(last[1], end);
  }
  return merged;
}

export function coverSpans(text: string, spans: readonly Span[], mark = REDACTED): string {
  let clean = '';
  let from = 0;
  for (const [start, end] of spans) {
    clean += text.slice(from, start) + mark;
    from = end;
  }
  return clean + text.slice(from);
}
