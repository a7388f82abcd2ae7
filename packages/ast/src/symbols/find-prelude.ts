/** What comes before a declaration and belongs to it: attributes, decorators, doc comments. */
import { firstFrom } from './first-from.ts';
import type { Policies } from './policies.ts';
import type { RawPrelude } from './raw-facts.ts';

export interface Prelude {
  /** Where the declaration itself begins, after attributes that the grammar puts inside it. */
  readonly start: number;
  /** With attributes and docs. */
  readonly fullStart: number;
  readonly hasDoc: boolean;
  /** Texts of its attributes and decorators. */
  readonly attrs: readonly string[];
}

export interface PreludeFinder {
  /** For a declaration that begins at this offset. */
  before(outer: number): Prelude;
}

export function createPreludeFinder(raw: readonly RawPrelude[], text: string, doc: Policies['doc']): PreludeFinder {
  const sorted = raw.toSorted((left, right) => left.start - right.start);

  function isDoc(item: RawPrelude): boolean {
    if (doc.by !== 'leading') return false;
    const comment = text.slice(item.start, item.end);
    return doc.match.test(comment) && !doc.exclude.test(comment);
  }

  function belongs(item: RawPrelude, cursor: number): boolean {
    const breaks = lineBreaksBetween(text, item.end, cursor);
    return item.kind === 'attr' ? breaks >= 0 : (breaks === 0 || breaks === 1) && isFirstOnLine(text, item.start);
  }

  return {
    before(outer) {
      const first = firstFrom(sorted, outer);
      const attrs: string[] = [];
      let start = outer;
      for (let at = first; sorted[at]?.start === start && sorted[at]?.kind === 'attr'; at++) {
        attrs.push(text.slice(sorted[at]?.start, sorted[at]?.end));
        start = skipSpace(text, sorted[at]?.end ?? start);
      }
      let fullStart = outer;
      let hasDoc = false;
      let cursor = outer;
      for (let at = first - 1; at >= 0; at--) {
        const item = sorted[at];
        if (item === undefined || !belongs(item, cursor)) break;
        cursor = item.start;
        const documents = isDoc(item);
        if (item.kind === 'attr') attrs.push(text.slice(item.start, item.end));
        if (documents || item.kind === 'attr') fullStart = item.start;
        hasDoc ||= documents;
      }
      return { start, fullStart, hasDoc, attrs };
    },
  };
}

/** -1 when something other than white space lies between, or the order is wrong. */
function lineBreaksBetween(text: string, from: number, to: number): number {
  if (from > to) return -1;
  let breaks = 0;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x0a) breaks++;
    else if (unit > 0x20) return -1;
  }
  return breaks;
}

/** A comment after code explains that code, not what follows. */
function isFirstOnLine(text: string, offset: number): boolean {
  for (let at = offset - 1; at >= 0; at--) {
    const unit = text.charCodeAt(at);
    if (unit === 0x0a || unit === 0xfeff) return true;
    if (unit > 0x20) return false;
  }
  return true;
}

function skipSpace(text: string, offset: number): number {
  let at = offset;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}
