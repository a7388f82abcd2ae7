/**
 * Some lines out of a file that passes by in pieces, and how many lines there are in all.
 *
 * Keeps no more than `maxBytes`, however long the file. The first piece decides the encoding and what ends a line: the
 * line feed, or the carriage return in a file that knows nothing else.
 */
import {
  asBuffer,
  type DetectedEncoding,
  detectEncoding,
  hasUtf8Mark,
  type TextEncoding,
  wholeCharacters,
} from './encoding.ts';

export interface LineWindowOptions {
  /** The first line wanted, from 1. */
  readonly first: number;
  readonly count: number;
  readonly maxBytes: number;
  readonly encoding: TextEncoding | 'auto';
}

export interface WindowedLines extends DetectedEncoding {
  readonly bytes: Buffer;
  /** The last line in it; one less than the first when there is none. */
  readonly last: number;
  readonly total: number;
  /** The lines wanted were longer than `maxBytes`. */
  readonly isCut: boolean;
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export class LineWindow {
  readonly #options: LineWindowOptions;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #isCut = false;
  #detected: DetectedEncoding | undefined;
  #terminator = LINE_FEED;
  /** Half a UTF-16 unit that waits for the rest. */
  #half = Buffer.alloc(0);
  /** The current line, from 1, and whether it has begun. */
  #line = 1;
  #isOpen = false;

  constructor(options: LineWindowOptions) {
    this.#options = options;
  }

  /** The next piece of the file; it may be overwritten afterwards. */
  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    const bytes = asBuffer(piece);
    this.#detected ??= this.#begin(bytes);
    this.#walk(this.#isWide() ? this.#evenPart(bytes) : bytes);
  }

  /** No later piece can add to what is kept. */
  get isComplete(): boolean {
    const { first, count } = this.#options;
    return this.#isCut || this.#line >= first + count;
  }

  finish(): WindowedLines {
    const detected = this.#detected ?? { encoding: 'utf-8', hasMark: false };
    const bytes = Buffer.concat(this.#kept, this.#keptBytes);
    const { encoding } = detected;
    const end = this.#isCut && encoding !== 'binary' ? wholeCharacters(bytes, encoding) : bytes.length;
    return {
      ...detected,
      bytes: bytes.subarray(0, end),
      last: this.#options.first - 1 + this.#countLines(bytes),
      total: this.#isOpen ? this.#line : this.#line - 1,
      isCut: this.#isCut,
    };
  }

  #begin(piece: Buffer): DetectedEncoding {
    const { encoding } = this.#options;
    if (!piece.includes(LINE_FEED) && piece.includes(CARRIAGE_RETURN)) this.#terminator = CARRIAGE_RETURN;
    if (encoding === 'auto') return detectEncoding(piece, { isPrefix: true });
    return { encoding, hasMark: hasMark(piece, encoding) };
  }

  #isWide(): boolean {
    return this.#detected?.encoding === 'utf-16le' || this.#detected?.encoding === 'utf-16be';
  }

  #evenPart(piece: Buffer): Buffer {
    const bytes = this.#half.length === 0 ? piece : Buffer.concat([this.#half, piece]);
    const even = bytes.length & ~1;
    this.#half = Buffer.from(bytes.subarray(even));
    return bytes.subarray(0, even);
  }

  #walk(bytes: Buffer): void {
    const { first, count } = this.#options;
    let wantedFrom = -1;
    for (let at = 0; at < bytes.length; ) {
      const isWanted = this.#line >= first && this.#line < first + count;
      if (isWanted && wantedFrom === -1) wantedFrom = at;
      const end = this.#lineEnd(bytes, at);
      at = end === -1 ? bytes.length : end;
      if (isWanted && (at === bytes.length || this.#line === first + count - 1)) {
        this.#keep(bytes.subarray(wantedFrom, at));
      }
      this.#isOpen = end === -1;
      if (end !== -1) this.#line += 1;
    }
  }

  #keep(bytes: Buffer): void {
    const room = this.#options.maxBytes - this.#keptBytes;
    if (bytes.length > room) this.#isCut = true;
    if (room <= 0) return;
    const kept = Buffer.from(bytes.subarray(0, room));
    this.#kept.push(kept);
    this.#keptBytes += kept.length;
  }

  #countLines(bytes: Buffer): number {
    let count = 0;
    for (let at = 0; at !== -1 && at < bytes.length; count++) at = this.#lineEnd(bytes, at);
    return count;
  }

  /** Behind the end of the line that begins at `from`; -1 when it goes on in the next piece. */
  #lineEnd(bytes: Buffer, from: number): number {
    if (!this.#isWide()) return bytes.indexOf(this.#terminator, from) + 1 || -1;
    const lowByte = this.#detected?.encoding === 'utf-16le' ? 0 : 1;
    for (let at = bytes.indexOf(this.#terminator, from); at !== -1; at = bytes.indexOf(this.#terminator, at + 1)) {
      if (at % 2 === lowByte && bytes[at ^ 1] === 0) return (at | 1) + 1;
    }
    return -1;
  }
}

function hasMark(piece: Buffer, encoding: TextEncoding): boolean {
  if (encoding === 'utf-8') return hasUtf8Mark(piece);
  const mark = encoding === 'utf-16le' ? [0xff, 0xfe] : [0xfe, 0xff];
  return encoding !== 'latin1' && piece[0] === mark[0] && piece[1] === mark[1];
}
