/**
 * One segment of a glob as a test on one name, compiled once for many names.
 *
 * The shapes people write (`name`, `*`, `*.ts`, `test_*`, `a*z`) become plain string comparisons; the rest is matched
 * in linear time. Names come from a directory, so they are never empty, `.` or `..`.
 */
import type { GlobSegment, GlobToken } from './glob-syntax.ts';
import { acceptsCode } from './match-glob.ts';
import { matchWild } from './match-wild.ts';

export type SegmentTest = (name: string) => boolean;

/** Undefined for `**`, which is no test on one name. */
export function compileSegment(segment: GlobSegment): SegmentTest | undefined {
  if (segment.type === 'globstar') return undefined;
  if (segment.type === 'literal') {
    const { text } = segment;
    return (name) => name === text;
  }
  return compileTokens(segment.tokens);
}

function compileTokens(tokens: readonly GlobToken[]): SegmentTest {
  const star = tokens.findIndex((token) => token.type === 'star');
  const head = literalText(star < 0 ? tokens : tokens.slice(0, star));
  const tail = literalText(star < 0 ? [] : tokens.slice(star + 1));
  if (star < 0 || head === undefined || tail === undefined) return (name) => matchTokens(tokens, name);
  if (head === '') return tail === '' ? () => true : (name) => name.endsWith(tail);
  const shortest = head.length + tail.length;
  return (name) => name.length >= shortest && name.startsWith(head) && name.endsWith(tail);
}

function literalText(tokens: readonly GlobToken[]): string | undefined {
  let text = '';
  for (const token of tokens) {
    if (token.type !== 'char') return undefined;
    text += String.fromCharCode(token.code);
  }
  return text;
}

function matchTokens(tokens: readonly GlobToken[], name: string): boolean {
  return matchWild({
    patternLength: tokens.length,
    textLength: name.length,
    isStar: (at) => tokens[at]?.type === 'star',
    accepts: (at, character) => acceptsCode(tokens[at], name.charCodeAt(character)),
    swallows: () => true,
  });
}
