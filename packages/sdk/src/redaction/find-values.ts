/** Finds given texts in a text and covers them. Matches that overlap are covered together, so that no rest is left. */

export const REDACTED = '[redacted]';

/** From the first character to the one after the last. */
export type Span = readonly [start: number, end: number];

/** How many characters decide whether a value is looked at at all; no value is shorter. */
const PREFIX = 4;
const PAIRS = 0x10000;

/** Looks at each character once: how many values there are hardly matters. */
export class ValueFinder {
  readonly values: readonly string[];
  readonly #byPrefix = new Map<string, string[]>();
  /** Which two characters a value can begin with. */
  readonly #pairs = new Uint8Array(PAIRS);

  constructor(values: readonly string[]) {
    this.values = values.filter((value) => value.length >= PREFIX);
    for (const value of this.values) {
      const prefix = value.slice(0, PREFIX);
      this.#byPrefix.set(prefix, [...(this.#byPrefix.get(prefix) ?? []), value]);
      this.#pairs[pairAt(value, 0)] = 1;
    }
  }

  /** In order; those that overlap are one. `covered` is the end of a match that began before this text. */
  spans(text: string, covered = 0): Span[] {
    const found: Span[] = covered > 0 ? [[0, covered]] : [];
    const last = this.values.length === 0 ? -1 : text.length - PREFIX;
    for (let at = 0; at <= last; at++) {
      if (this.#pairs[pairAt(text, at)] === 0) continue;
      for (const value of this.#byPrefix.get(text.slice(at, at + PREFIX)) ?? []) {
        if (text.startsWith(value, at)) found.push([at, at + value.length]);
      }
    }
    return found.length < 2 ? found : mergeSpans(found);
  }
}

function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) % PAIRS;
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
