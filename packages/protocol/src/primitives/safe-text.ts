/**
 * Text from outside, made safe for people: one character class and one way of escaping for every message, log and
 * terminal.
 *
 * Escaped are control characters, lone surrogates, line and paragraph separators, and all invisible format characters,
 * among them those that turn the direction of writing. Contents and program output are not changed by this; they are
 * data.
 */

/** Nearly every text is like this. A class of Unicode takes a millisecond to prepare, so it waits for one that is not. */
const PLAIN_TEXT = /^[ -~]*$/;
const PLAIN_LINES = /^[\t\n -~]*$/;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export const MAX_ECHO_LENGTH = 40;

const MAX_SEGMENTS = 16;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** On one line and at most `max` characters long, with `…` where it was cut. */
export function safeText(text: string, max = 160): string {
  const cut = clipped(text, max);
  return PLAIN_TEXT.test(cut) ? cut : cut.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped);
}

function clipped(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text;
}

/** A line to copy: as `safeText`, with its tabs as they are. */
export function safeLine(text: string, max: number): string {
  return safeLines(clipped(text, max));
}

/** Any length, with its lines and tabs as they are. */
export function safeLines(text: string): string {
  return PLAIN_LINES.test(text) ? text : text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped);
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

export const MAX_ID_BYTES = 512;

export const MAX_PLAN_STEPS = 100;
export const MAX_PLAN_NOTE_LENGTH = 2000;

/** Most ids. The other expression takes long to compile. */
const PLAIN = /^[ -~]+$/;
export const PRINTABLE = /^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]*$/u;

/**
 * The size of texts in UTF-8, and the one rule for every id, key and name: 1 to 512 UTF-8 bytes, printable.
 *
 * Other ids are refused at the edge because ids end up in log lines, file names and journal columns, where a control
 * character or half a surrogate pair does damage far from its source.
 */
export function isPrintableId(value: string): boolean {
  return (
    value !== '' &&
    value.length <= MAX_ID_BYTES &&
    fitsUtf8(value, MAX_ID_BYTES) &&
    (PLAIN.test(value) || PRINTABLE.test(value))
  );
}

/** UTF-8 size without encoding. A lone surrogate counts as the three bytes of its replacement character. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (isPairAt(text, index, code)) {
      bytes += 2;
      index++;
    } else bytes += 2;
  }
  return bytes;
}

/** Settled by the length alone for most texts: a UTF-16 unit takes one to three bytes. */
export function fitsUtf8(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Length(text) <= maxBytes);
}

function isPairAt(text: string, index: number, high: number): boolean {
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
