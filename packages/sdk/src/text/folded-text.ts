/**
 * A text without the differences that do not matter, with the way back to the original.
 *
 * Line ends become line feeds and a byte order mark goes. On request, blanks at the ends of lines go too, and characters
 * that look alike become the plain one. Every folded character knows which part of the original it stands for.
 */

export interface Folding {
  readonly trailing?: boolean;
  readonly lookalikes?: boolean;
}

export interface FoldedText {
  readonly text: string;
  /** Where the original of each folded character begins and ends. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** What people and programs write for the plain character, by the plain one. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "'": '\u2018\u2019\u201a\u201b\u2032\u02bc',
    '"': '\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb',
    '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
    ' ': '\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
    '...': '\u2026',
    '': '\u200b\u200c\u200d\u2060\ufeff',
  }).flatMap(([plain, alike]) => [...alike].map((character): [string, string] => [character, plain])),
);

/** Without anything that a folding or an indent could change: where these differ, no folding makes texts the same. */
export function essence(text: string): string {
  const dense = text.replace(/\s+/g, '');
  return dense.replace(/[^\0-\x7f]/g, (character) => LOOKALIKES.get(character) ?? character);
}

export function foldText(original: string, { trailing = false, lookalikes = false }: Folding): FoldedText {
  const parts: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const emit = (plain: string, start: number, end: number): void => {
    for (let unit = 0; unit < plain.length; unit++) {
      parts.push(plain.charAt(unit));
      starts.push(start);
      ends.push(end);
    }
  };
  const plainOf = (at: number): string => {
    const character = original.charAt(at);
    return lookalikes && character > '\u007f' ? (LOOKALIKES.get(character) ?? character) : character;
  };
  /** The end of the run of blanks that begins here. Characters that nothing is left of count as blanks. */
  const blanksEnd = (from: number): number => {
    let end = from;
    while (end < original.length && isBlank(plainOf(end))) end++;
    return end;
  };
  for (let at = original.startsWith('\ufeff') ? 1 : 0; at < original.length; ) {
    const blanks = blanksEnd(at);
    if (blanks > at) {
      const isTrailing = blanks === original.length || lineEndAt(original, blanks) > 0;
      if (!(trailing && isTrailing))
        for (let blank = at; blank < blanks; blank++) emit(plainOf(blank), blank, blank + 1);
      at = blanks;
      continue;
    }
    const end = at + (lineEndAt(original, at) || 1);
    emit(end > at + 1 ? '\n' : plainOf(at), at, end);
    at = end;
  }
  return { text: parts.join(''), starts, ends };
}

function isBlank(plain: string): boolean {
  return plain === ' ' || plain === '\t' || plain === '';
}

/** Length of the line end that is here; 0 for none. */
function lineEndAt(text: string, at: number): number {
  const character = text.charAt(at);
  if (character === '\n') return 1;
  return character === '\r' && text.charAt(at + 1) === '\n' ? 2 : 0;
}

/**
 * Where a run of characters or lines occurs, in time that grows with both together (Knuth, Morris, Pratt).
 *
 * Indexes in order. Without `overlap` the search goes on after each hit. An empty run is nowhere.
 */
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
