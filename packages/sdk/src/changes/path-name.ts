/**
 * Names as text without loss: a byte that is no UTF-8 becomes a lone surrogate (U+DC80 to U+DCFF), which no name that is
 * UTF-8 can contain. JSON keeps it as `\udc80`.
 */
import { isUtf8 } from 'node:buffer';

const ESCAPED = /[\udc80-\udcff]/;

export function textOfName(name: string | Buffer): string {
  if (typeof name === 'string') return name;
  let text = '';
  for (let at = 0; at < name.length; ) {
    const length = sequenceLength(name, at);
    text += length === 0 ? String.fromCharCode(0xdc00 + (name[at] ?? 0)) : name.toString('utf8', at, at + length);
    at += Math.max(length, 1);
  }
  return text;
}

/** Bytes of a whole UTF-8 character; 0 when none begins here. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

export function nameOfText(text: string): string | Buffer {
  if (text.isWellFormed() || !ESCAPED.test(text)) return text;
  const parts: Buffer[] = [];
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.of(code - 0xdc00) : Buffer.from(char, 'utf8'));
  }
  return Buffer.concat(parts);
}
