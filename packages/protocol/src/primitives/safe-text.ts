/**
 * Text from outside, made safe for people: one character class and one way of escaping for every message, log and terminal.
 *
 * Escaped are control characters, lone surrogates, line and paragraph separators, and all invisible format characters,
 * among them those that turn the direction of writing. Contents and program output are not changed by this; they are data.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const EVERY_UNSAFE = new RegExp(UNSAFE, 'gu');
const UNSAFE_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const EVERY_UNSAFE_IN_LINES = new RegExp(UNSAFE_IN_LINES, 'gu');
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

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
