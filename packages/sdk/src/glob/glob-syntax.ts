/**
 * Reads a glob into alternatives of segments: `*`, `**`, `?`, `[classes]`, `{alternatives}` and `\` escapes.
 *
 * Patterns come from registries that may be hostile, so everything is bounded here: length, brace depth, and the size
 * of what the braces expand to. What other dialects read differently (negation, ranges in braces) is refused.
 */
import { ToolError } from '@tool-runtime/protocol';
import { cutText } from './cut-text.ts';
import { expandBraces } from './expand-braces.ts';

export const MAX_GLOB_LENGTH = 1024;

export type GlobToken =
  | { readonly type: 'char'; readonly code: number }
  | { readonly type: 'any' }
  | { readonly type: 'star' }
  | { readonly type: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [number, number])[] };

export type GlobSegment =
  | { readonly type: 'globstar' }
  | { readonly type: 'literal'; readonly text: string }
  | { readonly type: 'wild'; readonly tokens: readonly GlobToken[] };

/** One alternative: what must follow what, between slashes. No segments at all means the root, `.`. */
export type GlobPath = readonly GlobSegment[];

export function parseGlob(pattern: string): readonly GlobPath[] {
  if (pattern === '') throw badGlob(pattern, 'it is empty');
  if (pattern.length > MAX_GLOB_LENGTH) throw badGlob(pattern, `it is longer than ${MAX_GLOB_LENGTH} characters`);
  if (pattern.includes('\0')) throw badGlob(pattern, 'it holds a NUL character');
  if (pattern.startsWith('!')) throw badGlob(pattern, 'negation is not part of a pattern; write \\! for the character');
  const refuse = (why: string): never => {
    throw badGlob(pattern, why);
  };
  return expandBraces(pattern, refuse).map((alternative) => parsePath(alternative, refuse));
}

/** True when the pattern is a plain name: it matches itself and nothing else. */
export function isLiteralGlob(pattern: string): boolean {
  return !/[*?[\]{}\\]/.test(pattern);
}

export function badGlob(pattern: string, why: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Pattern is not a valid glob: ${cutText(pattern)}`, {
    details: { reason: 'invalid_glob', why, next: 'use *, **, ?, [a-z] and {a,b}; escape other uses with a backslash' },
  });
}

type Refuse = (why: string) => never;

function parsePath(text: string, refuse: Refuse): GlobPath {
  const parts = text.split('/');
  while (parts[0] === '.') parts.shift();
  const segments: GlobSegment[] = [];
  for (const part of parts) {
    const globstar = part === '**';
    // A run of globstars means what one means; keeping one keeps matching cheap.
    if (globstar && segments.at(-1)?.type === 'globstar') continue;
    segments.push(globstar ? { type: 'globstar' } : parseSegment(part, refuse));
  }
  return segments;
}

function parseSegment(part: string, refuse: Refuse): GlobSegment {
  const tokens: GlobToken[] = [];
  for (let at = 0; at < part.length; ) {
    const character = part.charAt(at);
    if (character === '[') {
      const parsed = parseClass(part, at, refuse);
      tokens.push(parsed.token);
      at = parsed.next;
    } else if (character === '*') {
      if (tokens.at(-1)?.type !== 'star') tokens.push({ type: 'star' });
      at += 1;
    } else if (character === '?') {
      tokens.push({ type: 'any' });
      at += 1;
    } else {
      const from = character === '\\' ? at + 1 : at;
      if (from >= part.length) refuse('a backslash has nothing to escape');
      tokens.push({ type: 'char', code: part.charCodeAt(from) });
      at = from + 1;
    }
  }
  return toSegment(tokens);
}

function toSegment(tokens: readonly GlobToken[]): GlobSegment {
  let text = '';
  for (const token of tokens) {
    if (token.type !== 'char') return { type: 'wild', tokens };
    text += String.fromCharCode(token.code);
  }
  return { type: 'literal', text };
}

function parseClass(part: string, open: number, refuse: Refuse): { token: GlobToken; next: number } {
  let at = open + 1;
  const negated = part.charAt(at) === '!' || part.charAt(at) === '^';
  if (negated) at += 1;
  const ranges: [number, number][] = [];
  while (part.charAt(at) !== ']') {
    if (part.startsWith('[:', at)) refuse('named character classes are not supported');
    const first = classCharacter(part, at, refuse);
    const ranged = part.charAt(first.next) === '-' && part.charAt(first.next + 1) !== ']';
    const last = ranged ? classCharacter(part, first.next + 1, refuse) : first;
    if (last.code < first.code) refuse('a character range runs backwards');
    ranges.push([first.code, last.code]);
    at = last.next;
  }
  if (ranges.length === 0) refuse('a character class is empty');
  return { token: { type: 'class', negated, ranges }, next: at + 1 };
}

function classCharacter(part: string, at: number, refuse: Refuse): { code: number; next: number } {
  const from = part.charAt(at) === '\\' ? at + 1 : at;
  if (from >= part.length) refuse('a character class is not closed');
  return { code: part.charCodeAt(from), next: from + 1 };
}
