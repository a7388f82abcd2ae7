/**
 * Bytes to text and back without loss: what has no exact form on the other side is refused, never replaced.
 *
 * The encoding is detected from the bytes alone. Valid UTF-8 without NUL is UTF-8, which costs two native scans.
 * Everything else is rarer and looked at more closely; Latin-1, which any bytes are, is believed only where they look
 * like text.
 */
import { isUtf8 } from 'node:buffer';

export const TEXT_ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'latin1'] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];

/** Undefined when the bytes are not that encoding. A byte order mark stays in the text. A cut character is left out. */
export function decodeText(input: Uint8Array, encoding: TextEncoding, { isPrefix = false } = {}): string | undefined {
  const all = asBuffer(input);
  const bytes = isPrefix ? all.subarray(0, wholeCharacters(all, encoding)) : all;
  if (encoding === 'latin1') return bytes.toString('latin1');
  if (encoding === 'utf-8') return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  if (bytes.length % 2 !== 0) return undefined;
  const little = encoding === 'utf-16le' ? bytes : Buffer.from(bytes).swap16();
  const text = little.toString('utf16le');
  return text.isWellFormed() ? text : undefined;
}

/** Undefined when the encoding has no form for a character of the text. */
export function encodeText(text: string, encoding: TextEncoding): Buffer | undefined {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8');
  if (encoding === 'latin1') return isLatin1(text) ? Buffer.from(text, 'latin1') : undefined;
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16le' ? bytes : bytes.swap16();
}

function isLatin1(text: string): boolean {
  return !/[^\0-\xff]/.test(text);
}

/** Length without a character that is cut in two at the end. */
export function wholeCharacters(bytes: Uint8Array, encoding: TextEncoding): number {
  if (encoding === 'latin1') return bytes.length;
  return encoding === 'utf-8' ? wholeUtf8(bytes) : wholeUtf16(bytes, encoding);
}

/** A cut character is a lead byte followed by fewer continuation bytes than it announces. */
function wholeUtf8(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return announcedLength(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function announcedLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

function wholeUtf16(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): number {
  const even = bytes.length & ~1;
  const high = bytes[even - (encoding === 'utf-16le' ? 1 : 2)] ?? 0;
  return (high & 0xfc) === 0xd8 ? even - 2 : even;
}

export interface DetectedEncoding {
  readonly encoding: TextEncoding | 'binary';
  /** A byte order mark is at the beginning. */
  readonly hasMark: boolean;
}

const SAMPLE_BYTES = 8192;
const MIN_UNMARKED_UTF16_BYTES = 8;
/** Shares of the sample. */
const MIN_LATIN_IN_UTF16 = 0.7;
const MAX_CONTROLS = 0.01;
const MAX_HIGH_BYTES = 0.3;

/** `isPrefix`: the file goes on, so a character may be cut in two at the end. */
export function detectEncoding(input: Uint8Array, { isPrefix = false } = {}): DetectedEncoding {
  const bytes = asBuffer(input);
  const marked = markedUtf16(bytes);
  if (marked !== undefined) {
    const isText = decodeText(bytes, marked, { isPrefix }) !== undefined;
    return isText ? { encoding: marked, hasMark: true } : { encoding: 'binary', hasMark: false };
  }
  if (bytes.includes(0)) return { encoding: unmarkedUtf16(bytes, isPrefix) ?? 'binary', hasMark: false };
  const whole = isPrefix ? bytes.subarray(0, wholeCharacters(bytes, 'utf-8')) : bytes;
  if (isUtf8(whole)) return { encoding: 'utf-8', hasMark: hasUtf8Mark(bytes) };
  return { encoding: looksLikeText(bytes) ? 'latin1' : 'binary', hasMark: false };
}

export function hasUtf8Mark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function markedUtf16(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] !== 0xff || bytes[1] !== 0xfe) return undefined;
  // The same mark with two zeros behind it is UTF-32, which nothing here reads.
  return bytes.length >= 4 && bytes[2] === 0 && bytes[3] === 0 ? undefined : 'utf-16le';
}

/** Without a mark: pairs of a letter below U+0100 and a zero, nearly all in one order. */
function unmarkedUtf16(bytes: Buffer, isPrefix: boolean): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes.length < MIN_UNMARKED_UTF16_BYTES) return undefined;
  const end = Math.min(bytes.length, SAMPLE_BYTES) & ~1;
  let [little, big] = [0, 0];
  for (let at = 0; at < end; at += 2) {
    const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
    if (second === 0 && isTextByte(first)) little += 1;
    if (first === 0 && isTextByte(second)) big += 1;
  }
  const enough = (end / 2) * MIN_LATIN_IN_UTF16;
  const encoding = little >= enough ? 'utf-16le' : big >= enough ? 'utf-16be' : undefined;
  if (encoding === undefined) return undefined;
  const text = decodeText(bytes, encoding, { isPrefix });
  return text === undefined || text.includes('\0') ? undefined : encoding;
}

function looksLikeText(bytes: Buffer): boolean {
  const end = Math.min(bytes.length, SAMPLE_BYTES);
  let [controls, high] = [0, 0];
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x80) high += 1;
    else if (!isTextByte(byte)) controls += 1;
  }
  return controls <= end * MAX_CONTROLS && high <= end * MAX_HIGH_BYTES;
}

/** Not a control character, apart from backspace, tab, the line ends, form feed and the escape of terminal colours. */
function isTextByte(byte: number): boolean {
  return byte >= 0x20 ? byte !== 0x7f : (byte >= 8 && byte <= 13) || byte === 0x1b;
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const LONGEST_CHARACTER = 4;

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/**
 * Where UTF-8 bytes can be cut without splitting a character. Bytes that are no UTF-8 count as characters of their own.
 *
 * Where the last character that is all there ends.
 */
export function wholeCharactersEnd(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - LONGEST_CHARACTER && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return length > 1 && start + length > bytes.length ? Math.max(start, 0) : bytes.length;
}

/** Where the first character that is all there begins. */
export function firstCharacterStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < LONGEST_CHARACTER - 1 && isContinuation(bytes[start])) start++;
  return start;
}
