/**
 * Text from outside, made safe for people: one character class and one way of escaping for every message, log and
 * terminal.
 *
 * Escaped are control characters, lone surrogates, line and paragraph separators, and all invisible format characters,
 * among them those that turn the direction of writing. Contents and program output are not changed by this; they are
 * data.
 */

const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const EVERY_UNSAFE = new RegExp(UNSAFE, 'gu');
const UNSAFE_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const EVERY_UNSAFE_IN_LINES = new RegExp(UNSAFE_IN_LINES, 'gu');
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export const MAX_ECHO_LENGTH = 40;

const MAX_SEGMENTS = 16;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** On one line and at most `max` characters long, with `…` where it was cut. */
export function safeText(text: string, max = 160): string {
  const cut = text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;
  return UNSAFE.test(cut) ? cut.replace(EVERY_UNSAFE, escaped) : cut;
}

/** Any length, with its lines and tabs as they are. */
export function safeLines(text: string): string {
  return UNSAFE_IN_LINES.test(text) ? text.replace(EVERY_UNSAFE_IN_LINES, escaped) : text;
}

function escaped(character: string): string {
  return SHORT[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A word from outside, quoted for a message. */
export function clipText(text: string): string {
  return `"${safeText(text, MAX_ECHO_LENGTH).replaceAll('"', '\\"')}"`;
}

/** Where in a JSON value something is, as a person would write it: `args.items[2]["odd key"]`. Bounded in length. */
export function formatPath(segments: readonly PropertyKey[]): string {
  const shown = segments.slice(0, MAX_SEGMENTS).map(formatSegment).join('');
  const path = shown.startsWith('.') ? shown.slice(1) : shown;
  return segments.length > MAX_SEGMENTS ? `${path}…` : path;
}

function formatSegment(segment: PropertyKey): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const name = String(segment);
  return name.length <= MAX_ECHO_LENGTH && IDENTIFIER.test(name) ? `.${name}` : `[${clipText(name)}]`;
}
