/**
 * Reads a glob into alternatives of segments: `*`, `**`, `?`, `[classes]`, `{alternatives}` and `\` escapes.
 *
 * Patterns come from registries that may be hostile, so everything is bounded here: length, brace depth, and the size
 * of what the braces expand to. What other dialects read differently (negation, ranges in braces) is refused.
 */
import { ToolError } from '@tool-runtime/protocol';

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

/** The pattern that matches this name and nothing else. */
export function escapeGlob(name: string): string {
  return name.replace(/[*?[\]{}\\!]/g, '\\$&');
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

const MAX_SHOWN = 80;

/** Values inside messages: quoted, without control characters, and short. */
export function cutText(text: string): string {
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return JSON.stringify(cut.toWellFormed());
}

/**
 * Turns `{a,b}` groups into the plain patterns they stand for, nested groups included.
 *
 * Groups multiply, so both the number of alternatives and their total length are bounded while they grow.
 * Escapes and character classes pass through untouched; the segment parser reads them.
 */
const MAX_ALTERNATIVES = 256;
const MAX_EXPANDED_LENGTH = 8192;
const MAX_BRACE_DEPTH = 8;

interface Reader {
  readonly pattern: string;
  readonly refuse: Refuse;
  at: number;
}

export function expandBraces(pattern: string, refuse: Refuse): readonly string[] {
  if (!pattern.includes('{') && !pattern.includes('}')) return [pattern];
  const reader: Reader = { pattern, refuse, at: 0 };
  return readSequence(reader, 0);
}

/** Reads up to the end, or inside a group up to the `,` or `}` that ends this alternative. */
function readSequence(reader: Reader, depth: number): string[] {
  let found = [''];
  while (reader.at < reader.pattern.length) {
    const character = reader.pattern.charAt(reader.at);
    if (depth > 0 && (character === ',' || character === '}')) return found;
    if (character === '}') reader.refuse('a closing brace has no opening one');
    found = join(found, character === '{' ? readGroup(reader, depth + 1) : [readPlain(reader)], reader.refuse);
  }
  return depth === 0 ? found : reader.refuse('a brace is not closed');
}

function readGroup(reader: Reader, depth: number): string[] {
  if (depth > MAX_BRACE_DEPTH) reader.refuse(`braces are nested deeper than ${MAX_BRACE_DEPTH}`);
  const alternatives: string[] = [];
  let count = 0;
  do {
    reader.at += 1;
    alternatives.push(...readSequence(reader, depth));
    count += 1;
  } while (reader.pattern.charAt(reader.at) === ',');
  reader.at += 1;
  if (count < 2) reader.refuse('a brace group needs at least two alternatives');
  return [...new Set(alternatives)];
}

/** One character, one escape, or one whole character class. */
function readPlain(reader: Reader): string {
  const start = reader.at;
  const character = reader.pattern.charAt(start);
  if (character === '\\') reader.at += 2;
  else if (character === '[') reader.at = classEnd(reader.pattern, start);
  else reader.at += 1;
  return reader.pattern.slice(start, reader.at);
}

function classEnd(pattern: string, open: number): number {
  for (let at = open + 1; at < pattern.length; at += 1) {
    if (pattern.charAt(at) === '\\') at += 1;
    else if (pattern.charAt(at) === ']') return at + 1;
  }
  return open + 1;
}

function join(heads: readonly string[], tails: readonly string[], refuse: Refuse): string[] {
  if (heads.length * tails.length > MAX_ALTERNATIVES) refuse(`braces give more than ${MAX_ALTERNATIVES} alternatives`);
  const joined = heads.flatMap((head) => tails.map((tail) => head + tail));
  const length = joined.reduce((sum, text) => sum + text.length, 0);
  if (length > MAX_EXPANDED_LENGTH) refuse(`braces give more than ${MAX_EXPANDED_LENGTH} characters`);
  return joined;
}
