/**
 * Whether every top-level alternative of a pattern begins with `^`.
 *
 * An allowlist entry that matches in the middle of a line allows every program that is given the right argument.
 * This reading is for messages; matching itself also starts at the first character (compile-pattern.ts), so a slip here
 * cannot open the list.
 */
import { skipClass, skipEscape } from './pattern-scan.ts';

const LEADING_FLAGS = /^\(\?[imsU]+\)/;

function topLevelAlternatives(source: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let at = 0;
  while (at < source.length) {
    const character = source[at];
    if (character === '\\') {
      at = skipEscape(source, at);
      continue;
    }
    if (character === '[') {
      at = skipClass(source, at);
      continue;
    }
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === '|' && depth === 0) {
      parts.push(source.slice(start, at));
      start = at + 1;
    }
    at++;
  }
  return [...parts, source.slice(start)];
}

/** A quantifier behind the anchor would make it optional, also across what stands for nothing: flags, an empty quotation. */
function isAnchored(alternative: string): boolean {
  if (!alternative.startsWith('^')) return false;
  return !/^\^(?:\(\?[A-Za-z-]*\)|\\Q\\E|\\E)*[*+?{]/.test(alternative);
}

/** Undefined when anchored; otherwise the closest pattern that is. */
export function anchoredForm(source: string): string | undefined {
  const flags = LEADING_FLAGS.exec(source)?.[0] ?? '';
  const alternatives = topLevelAlternatives(source.slice(flags.length));
  if (alternatives.every(isAnchored)) return undefined;
  const bare = alternatives.map((alternative) => alternative.replace(/^\^[*+?]?/, ''));
  return bare.length === 1 ? `${flags}^${bare[0]}` : `${flags}^(?:${bare.join('|')})`;
}
