/** Bytes to text and back without loss: what has no exact form in the other world is refused, never replaced. */
import { isUtf8 } from 'node:buffer';
import { asBuffer } from './line-table.ts';

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
