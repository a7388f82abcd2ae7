/**
 * Whether one pattern provably matches everything another one matches. "No" may mean "cannot tell": lists are narrowed
 * by this, and what cannot be proven inside counts as outside.
 *
 * The trick: match the outer pattern against the inner pattern's own elements, where an inner wildcard is just one
 * more element that only a wide enough outer element accepts.
 */
import { type GlobPath, type GlobSegment, type GlobToken, parseGlob } from './glob-syntax.ts';
import { acceptsCode, isDots, matchWild } from './match-glob.ts';

export function globCovers(outer: string, inner: string): boolean {
  if (outer === inner) return true;
  const outerPaths = parseGlob(outer);
  return parseGlob(inner).every((path) => outerPaths.some((wide) => pathCovers(wide, path)));
}

/** Everything both lists surely allow: entries of either that lie inside an entry of the other. */
export function intersectGlobs(first: readonly string[], second: readonly string[]): readonly string[] {
  const inside = (list: readonly string[], entry: string): boolean => list.some((outer) => globCovers(outer, entry));
  const kept = [...second.filter((entry) => inside(first, entry)), ...first.filter((entry) => inside(second, entry))];
  return [...new Set(kept)];
}

function pathCovers(outer: GlobPath, inner: GlobPath): boolean {
  return matchWild({
    patternLength: outer.length,
    textLength: inner.length,
    isStar: (at) => outer[at]?.type === 'globstar',
    accepts: (at, part) => segmentCovers(outer[at], inner[part]),
    swallows: (part) => !isDotSegment(inner[part]),
  });
}

function isDotSegment(segment: GlobSegment | undefined): boolean {
  return segment?.type === 'literal' && isDots(segment.text);
}

function segmentCovers(outer: GlobSegment | undefined, inner: GlobSegment | undefined): boolean {
  if (outer === undefined || inner === undefined || inner.type === 'globstar') return false;
  if (outer.type === 'literal') return inner.type === 'literal' && inner.text === outer.text;
  if (outer.type === 'globstar' || isDotSegment(inner)) return false;
  const wide = outer.tokens;
  const narrow = inner.type === 'wild' ? inner.tokens : literalTokens(inner.text);
  if (narrow.length === 0) return false;
  return matchWild({
    patternLength: wide.length,
    textLength: narrow.length,
    isStar: (at) => wide[at]?.type === 'star',
    accepts: (at, token) => tokenCovers(wide[at], narrow[token]),
    swallows: () => true,
  });
}

function literalTokens(text: string): readonly GlobToken[] {
  return Array.from({ length: text.length }, (_, at) => ({ type: 'char', code: text.charCodeAt(at) }));
}

function tokenCovers(outer: GlobToken | undefined, inner: GlobToken | undefined): boolean {
  if (inner === undefined || inner.type === 'star') return false;
  if (outer?.type === 'any') return true;
  if (inner.type === 'char') return acceptsCode(outer, inner.code);
  return inner.type === 'class' && outer?.type === 'class' && JSON.stringify(outer) === JSON.stringify(inner);
}
