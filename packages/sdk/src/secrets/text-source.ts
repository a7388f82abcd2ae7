/**
 * The text of a file, cut out piece by piece so that no file is too large for a string.
 *
 * A file that is neither UTF-8 nor UTF-16 is read byte by byte. A file that claims to be UTF-16, or looks like it, is
 * read byte by byte as well, because two bytes at its beginning must not hide the rest.
 */
import { isUtf8 } from 'node:buffer';
import type { SecretMatch } from './secret-finding.ts';

export interface TextSource {
  /** In its own units: bytes, or characters of a text. */
  readonly length: number;
  /** Both ends at a cut. */
  slice(from: number, to: number): string;
  /** The last place at or before this one that is not inside a character. */
  cut(at: number): number;
  /** Made from bytes in an unknown encoding: it may contain two-byte characters. */
  readonly isBinary: boolean;
}

type WideEncoding = 'utf-16le' | 'utf-16be';

const SAMPLE_BYTES = 8192;
/** Shares of the pairs of bytes in the sample. */
const MIN_ZEROS = 0.3;
const MAX_ZEROS_ELSEWHERE = 0.02;

const WIDE_RUN = /[!-~]\0[!-~]\0[!-~]\0[!-~]\0[!-~]\0[!-~]\0/;

/** The best reading first. */
export function textSources(input: Uint8Array): readonly TextSource[] {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const wide = markedWide(bytes) ?? unmarkedWide(bytes);
  if (wide !== undefined) return [wideSource(bytes.subarray(wide.markLength), wide.encoding), binarySource(bytes)];
  return [!bytes.includes(0) && isUtf8(bytes) ? utf8Source(bytes) : binarySource(bytes)];
}

export function plainSource(text: string): TextSource {
  return {
    length: text.length,
    slice: (from, to) => text.slice(from, to),
    cut: (at) => (isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at),
    isBinary: false,
  };
}

function utf8Source(bytes: Buffer): TextSource {
  const text = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
  return {
    length: text.length,
    slice: (from, to) => text.toString('utf8', from, to),
    cut(at) {
      let place = at;
      while (place > 0 && ((text[place] ?? 0) & 0xc0) === 0x80) place -= 1;
      return place;
    },
    isBinary: false,
  };
}

function wideSource(bytes: Buffer, encoding: WideEncoding): TextSource {
  const highByte = encoding === 'utf-16le' ? 1 : 0;
  return {
    length: bytes.length & ~1,
    slice(from, to) {
      const piece = bytes.subarray(from, to);
      return (encoding === 'utf-16le' ? piece : Buffer.from(piece).swap16()).toString('utf16le');
    },
    cut(at) {
      const even = at & ~1;
      return even > 0 && isLowSurrogate((bytes[even + highByte] ?? 0) << 8) ? even - 2 : even;
    },
    isBinary: false,
  };
}

function binarySource(bytes: Buffer): TextSource {
  return {
    length: bytes.length,
    slice: (from, to) => bytes.toString('latin1', from, to),
    cut: (at) => at,
    isBinary: true,
  };
}

function markedWide(bytes: Buffer): { readonly encoding: WideEncoding; readonly markLength: number } | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', markLength: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', markLength: 2 };
  return undefined;
}

/** Characters below U+0100 have a zero on one side and never on the other. */
function unmarkedWide(bytes: Buffer): { readonly encoding: WideEncoding; readonly markLength: number } | undefined {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (!sample.includes(0)) return undefined;
  const zeros: [number, number] = [0, 0];
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) zeros[(at & 1) as 0 | 1] += 1;
  const [first, second] = zeros.map((count) => count / (sample.length / 2)) as [number, number];
  if (second >= MIN_ZEROS && first <= MAX_ZEROS_ELSEWHERE) return { encoding: 'utf-16le', markLength: 0 };
  if (first >= MIN_ZEROS && second <= MAX_ZEROS_ELSEWHERE) return { encoding: 'utf-16be', markLength: 0 };
  return undefined;
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

/**
 * Two-byte characters scattered in binary content, such as the texts of a program: every other byte is zero.
 *
 * Single zeros are taken out and longer rows of them become line ends; what is found is then looked up in the content.
 * The alignment and the order of the bytes do not matter that way.
 *
 * Undefined when there are none.
 */
export function narrowText(text: string): string | undefined {
  if (!WIDE_RUN.test(text)) return undefined;
  return text.replace(/\0{2,}/g, '\n').replaceAll('\0', '');
}

/** Matches of the narrowed text, in order, with their places in the text itself. Reads the text once. */
export function widenMatches(matches: readonly SecretMatch[], text: string): readonly SecretMatch[] {
  const placeOf = placeFinder(text);
  return matches.map((match) => ({ ...match, start: placeOf(match.start), end: placeOf(match.end - 1) + 1 }));
}

/** The place in the text of a character of the narrowed one; asked for in ascending order. */
function placeFinder(text: string): (target: number) => number {
  let at = 0;
  let narrow = 0;
  return (target) => {
    for (;;) {
      const zero = text.indexOf('\0', at);
      const plain = (zero === -1 ? text.length : zero) - at;
      if (target - narrow < plain || zero === -1) break;
      let end = zero + 1;
      while (text.charCodeAt(end) === 0) end += 1;
      const isRow = end - zero > 1;
      if (isRow && target - narrow === plain) break;
      narrow += plain + (isRow ? 1 : 0);
      at = end;
    }
    return at + target - narrow;
  };
}
