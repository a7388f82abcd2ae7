/**
 * The bytes of one file and the text the parser sees, with the way from one to the other.
 *
 * The parser counts UTF-16 units, the rest of the package bytes on disk. A byte order mark stays in the text as one
 * unit. Bytes that are not UTF-8 are read one unit per byte, so offsets stay true even where letters do not.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { ToolError } from '@tool-runtime/protocol';
import { PARSE_LIMITS } from './limits.ts';

export type SourceEncoding = 'ascii' | 'utf8' | 'latin1';

/** Units between two checkpoints: a conversion walks at most this far. */
const STRIDE = 64;
/** How much is searched for a NUL byte, as git does. */
const BINARY_PROBE_BYTES = 8_000;

export class SourceText {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly encoding: SourceEncoding;
  #checkpoints: Uint32Array | undefined;
  #lineStarts: Uint32Array | undefined;

  constructor(bytes: Uint8Array, text: string, encoding: SourceEncoding) {
    this.bytes = bytes;
    this.text = text;
    this.encoding = encoding;
  }

  /** Byte offset of a UTF-16 offset. */
  toByte(offset: number): number {
    if (this.encoding !== 'utf8') return offset;
    const checkpoints = this.#table();
    const slot = Math.floor(offset / STRIDE);
    return (checkpoints[slot] ?? 0) + utf8Length(this.text, slot * STRIDE, offset);
  }

  /** UTF-16 offset of a byte offset; a byte inside a character gives the character's start. */
  toOffset(byte: number): number {
    if (this.encoding !== 'utf8') return byte;
    const checkpoints = this.#table();
    const slot = lastNotAbove(checkpoints, byte);
    let at = slot * STRIDE;
    let bytes = checkpoints[slot] ?? 0;
    if (at > 0 && isPair(this.text, at - 1)) {
      at -= 1;
      bytes -= 2;
    }
    while (at < this.text.length) {
      const units = isPair(this.text, at) ? 2 : 1;
      const next = bytes + (units === 2 ? 4 : utf8Length(this.text, at, at + 1));
      if (next > byte) break;
      bytes = next;
      at += units;
    }
    return at;
  }

  /** Line of a UTF-16 offset, from 0. Lines end at `\n`. */
  rowOf(offset: number): number {
    return lastNotAbove(this.#lines(), offset);
  }

  /** UTF-16 offset at which a line starts. */
  lineStart(row: number): number {
    return this.#lines()[row] ?? this.text.length;
  }

  get lineCount(): number {
    return this.#lines().length;
  }

  #table(): Uint32Array {
    if (this.#checkpoints === undefined) {
      const table = new Uint32Array(Math.floor(this.text.length / STRIDE) + 1);
      for (let slot = 1; slot < table.length; slot++) {
        table[slot] = (table[slot - 1] ?? 0) + utf8Length(this.text, (slot - 1) * STRIDE, slot * STRIDE);
      }
      this.#checkpoints = table;
    }
    return this.#checkpoints;
  }

  #lines(): Uint32Array {
    if (this.#lineStarts === undefined) {
      const starts = [0];
      for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1);
      this.#lineStarts = Uint32Array.from(starts);
    }
    return this.#lineStarts;
  }
}

/** Throws E_AST_PARSE with `reason` `too_large` or `binary`. */
export function decodeSource(
  bytes: Uint8Array,
  path: string,
  maxFileBytes: number = PARSE_LIMITS.maxFileBytes,
): SourceText {
  if (bytes.byteLength > maxFileBytes) throw refuse('too_large', 'File too large to parse', path);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, BINARY_PROBE_BYTES).includes(0)) throw refuse('binary', 'Not a text file', path);
  if (isAscii(buffer)) return new SourceText(bytes, buffer.toString('latin1'), 'ascii');
  if (isUtf8(buffer)) return new SourceText(bytes, buffer.toString('utf8'), 'utf8');
  return new SourceText(bytes, buffer.toString('latin1'), 'latin1');
}

function refuse(reason: 'too_large' | 'binary', problem: string, path: string): ToolError {
  return new ToolError('E_AST_PARSE', `${problem}: ${path}`, { path, details: { reason } });
}

/** Bytes of the units in [from, to). Each half of a pair counts two, so a cut through one stays countable. */
function utf8Length(text: string, from: number, to: number): number {
  let bytes = to - from;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

/** Place of the last element that is not above `value` in an ascending table that starts with 0. */
function lastNotAbove(table: Uint32Array, value: number): number {
  let low = 0;
  let high = table.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((table[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
