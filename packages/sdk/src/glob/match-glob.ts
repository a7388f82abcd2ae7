/**
 * The one meaning of a pattern, for tool names, paths and constrained arguments alike.
 *
 * `*` and `?` stay inside a segment, `**` as a whole segment spans any number of them, also none. A wildcard never
 * matches a `.` or `..` segment, so `src/**` does not reach `src/../etc`; the text `.` is the root and matches `**`.
 * Leading dots need no mention. Matching time is linear in pattern × text, however hostile both are.
 */
import { type GlobPath, type GlobSegment, type GlobToken, isLiteralGlob, parseGlob } from './glob-syntax.ts';

/** Longer texts match only an equal name: patterns grant permissions, so no match is the safe answer. */
export const MAX_TEXT_LENGTH = 8192;

export type GlobTest = (text: string) => boolean;

interface WildMatch {
  readonly patternLength: number;
  readonly textLength: number;
  isStar(patternIndex: number): boolean;
  /** Whether one element that is not a star accepts one element of the text. */
  accepts(patternIndex: number, textIndex: number): boolean;
  /** Whether a star may swallow this element. */
  swallows(textIndex: number): boolean;
}

/** Throws E_VALIDATION_FAIL for a pattern that is malformed or too large. */
export function compileGlob(pattern: string): GlobTest {
  const alternatives = parseGlob(pattern);
  if (isPlainName(pattern)) return (text) => text === pattern;
  return (text) => {
    if (text === '' || text.length > MAX_TEXT_LENGTH) return false;
    const parts = text === '.' ? [] : text.split('/');
    return alternatives.some((alternative) => matchPath(alternative, parts));
  };
}

/** True when any pattern matches. An empty list matches nothing. */
export function compileGlobs(patterns: readonly string[]): GlobTest {
  for (const pattern of patterns) parseGlob(pattern); // plain names have bounds too
  const names = new Set(patterns.filter(isPlainName));
  const tests = patterns.filter((pattern) => !names.has(pattern)).map(compileGlob);
  if (tests.length === 0) return (text) => names.has(text);
  return (text) => names.has(text) || tests.some((test) => test(text));
}

/** A leading dot may be `./`, which means nothing; such patterns are matched by segments. */
function isPlainName(pattern: string): boolean {
  return isLiteralGlob(pattern) && !pattern.startsWith('.');
}

function matchPath(path: GlobPath, parts: readonly string[]): boolean {
  return matchWild({
    patternLength: path.length,
    textLength: parts.length,
    isStar: (at) => path[at]?.type === 'globstar',
    accepts: (at, part) => acceptsPart(path[at], parts[part] ?? ''),
    swallows: (part) => !isDots(parts[part] ?? ''),
  });
}

function acceptsPart(segment: GlobSegment | undefined, part: string): boolean {
  if (segment?.type === 'literal') return segment.text === part;
  if (segment?.type !== 'wild' || part === '' || isDots(part)) return false;
  const { tokens } = segment;
  return matchWild({
    patternLength: tokens.length,
    textLength: part.length,
    isStar: (at) => tokens[at]?.type === 'star',
    accepts: (at, character) => acceptsCode(tokens[at], part.charCodeAt(character)),
    swallows: () => true,
  });
}

export function acceptsCode(token: GlobToken | undefined, code: number): boolean {
  if (token?.type === 'char') return token.code === code;
  if (token?.type === 'any') return true;
  if (token?.type !== 'class') return false;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.negated;
}

export function isDots(part: string): boolean {
  return part === '.' || part === '..';
}

/**
 * Wildcard matching over any alphabet, in time proportional to pattern × text.
 *
 * Only the last star ever has to be tried again: whatever an earlier star took, a later one can make up for. That is
 * why this cannot blow up the way a backtracking regular expression does.
 */
export function matchWild(match: WildMatch): boolean {
  let pattern = 0;
  let text = 0;
  let star = -1;
  let starText = 0;
  while (text < match.textLength) {
    if (pattern < match.patternLength && match.isStar(pattern)) {
      star = pattern;
      starText = text;
      pattern += 1;
    } else if (pattern < match.patternLength && match.accepts(pattern, text)) {
      pattern += 1;
      text += 1;
    } else if (star >= 0 && match.swallows(starText)) {
      pattern = star + 1;
      starText += 1;
      text = starText;
    } else return false;
  }
  while (pattern < match.patternLength && match.isStar(pattern)) pattern += 1;
  return pattern === match.patternLength;
}

/**
 * Whether one pattern provably matches everything another one matches. "No" may mean "cannot tell": lists are narrowed
 * by this, and what cannot be proven inside counts as outside.
 *
 * The trick: match the outer pattern against the inner pattern's own elements, where an inner wildcard is just one
 * more element that only a wide enough outer element accepts.
 */
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
