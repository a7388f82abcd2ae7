/**
 * The tokens of JSON, each as a function from a start index to the index after it.
 *
 * A broken token gives the complement of the offending index (`~index`, always negative), so that the
 * hot path neither throws nor allocates.
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_U = 0x75;
const LOWER_E = 0x65;
const UPPER_E = 0x45;

export function skipWhitespace(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code === 0x20 || (code >= 0x09 && code <= 0x0d); code = text.charCodeAt(at)) {
    if (code === 0x0b || code === 0x0c) return at;
    at++;
  }
  return at;
}

/** Most strings end within this many characters, sooner than a regular expression has started. */
const SHORT_RUN = 12;
/** Sticky, and `lastIndex` is set before each use. Twice as fast on long runs as reading character codes. */
const PLAIN_RUN = /[^"\\\u0000-\u001f]*/y;

/** `start` is the opening quote. */
export function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (true) {
    at = plainEnd(text, at);
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code !== BACKSLASH) return ~at;
    at = escapeEnd(text, at);
    if (at < 0) return at;
  }
}

/** The first quote, backslash or control character, or the end of the text. */
function plainEnd(text: string, start: number): number {
  const near = Math.min(text.length, start + SHORT_RUN);
  for (let at = start; at < near; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH || code < 0x20) return at;
  }
  PLAIN_RUN.lastIndex = near;
  PLAIN_RUN.test(text);
  return PLAIN_RUN.lastIndex;
}

function escapeEnd(text: string, start: number): number {
  const code = text.charCodeAt(start + 1);
  if (code !== LOWER_U) return isSimpleEscape(code) ? start + 2 : ~(start + 1);
  for (let at = start + 2; at < start + 6; at++) if (!isHexDigit(text.charCodeAt(at))) return ~at;
  return start + 6;
}

/** One of `"` `\` `/` `b` `f` `n` `r` `t`. */
function isSimpleEscape(code: number): boolean {
  switch (code) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}

function isHexDigit(code: number): boolean {
  const lower = code | 0x20;
  return isDigit(code) || (lower >= 0x61 && lower <= 0x66);
}

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** The number up to its exponent. */
export function mantissaEnd(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  at = text.charCodeAt(at) === ZERO ? at + 1 : digitsEnd(text, at);
  return at >= 0 && text.charCodeAt(at) === DOT ? digitsEnd(text, at + 1) : at;
}

/** `start` is where the mantissa ended; returned as it is when no exponent follows. */
export function exponentEnd(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code !== LOWER_E && code !== UPPER_E) return start;
  const sign = text.charCodeAt(start + 1);
  return digitsEnd(text, sign === PLUS || sign === MINUS ? start + 2 : start + 1);
}

/** At least one digit. */
function digitsEnd(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at === start ? ~at : at;
}

const WORDS: Readonly<Record<number, string>> = { 116: 'true', 102: 'false', 110: 'null' };

/** `true`, `false` or `null`. */
export function wordEnd(text: string, start: number): number {
  const word = WORDS[text.charCodeAt(start)];
  if (word === undefined) return ~start;
  if (text.startsWith(word, start)) return start + word.length;
  let at = start;
  while (text[at] === word[at - start]) at++;
  return ~at;
}
