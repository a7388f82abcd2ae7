/**
 * What is returned of a line: its text, or so many characters of it with the match among them, and the column in
 * characters. A line may be as long as memory allows the search program; only a window of it is kept here.
 */
import { isAscii } from 'node:buffer';

export interface LineView {
  readonly text: string;
  /** From 1, in code points; zero for a line without a match. */
  readonly column: number;
  readonly cut: boolean;
}

const CARRIAGE_RETURN = 0x0d;
const MAX_BYTES_PER_CHARACTER = 4;
const WHOLE_LINE_BYTES = 256 * 1024;

/** `byteColumn` is from 1, and zero for a line without a match. */
export interface LinePlace {
  readonly byteColumn: number;
  readonly maxLength: number;
}

export function viewLine(bytes: Buffer, place: LinePlace): LineView {
  const { byteColumn, maxLength } = place;
  const length = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  const text = length > maxLength * MAX_BYTES_PER_CHARACTER ? undefined : bytes.toString('utf8', 0, length);
  if (text === undefined || text.length > maxLength) {
    const window = new LineWindow(place);
    window.add(bytes);
    return window.view();
  }
  const isAscii = text.length === length;
  const column =
    byteColumn < 2 || isAscii ? byteColumn : countCharacters(bytes.toString('utf8', 0, byteColumn - 1)) + 1;
  return { text, column, cut: false };
}

/** A line that comes in pieces: kept whole as long as that is reasonable, so that pieces make no difference. */
export class PartialLine {
  readonly #place: LinePlace;
  #pieces: Buffer[] = [];
  #length = 0;
  #window: LineWindow | undefined;

  constructor(place: LinePlace) {
    this.#place = place;
  }

  add(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#window !== undefined) this.#window.add(bytes);
    else {
      // Copied: a piece may be all that keeps a large buffer alive, or lie where the next one will be read to.
      this.#pieces.push(Buffer.from(bytes));
      if (this.#length > Math.max(WHOLE_LINE_BYTES, this.#place.maxLength * MAX_BYTES_PER_CHARACTER)) this.#narrow();
    }
  }

  view(): LineView {
    return this.#window?.view() ?? viewLine(Buffer.concat(this.#pieces), this.#place);
  }

  #narrow(): void {
    this.#window = new LineWindow(this.#place);
    for (const piece of this.#pieces) this.#window.add(piece);
    this.#pieces = [];
  }
}

/** The part of a long line that is returned. */
class LineWindow {
  readonly #place: LinePlace;
  /** First byte kept: the line's own, or a little before a match far to the right. */
  readonly #from: number;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #seen = 0;
  #charactersBefore = 0;
  #last = 0;

  constructor(place: LinePlace) {
    this.#place = place;
    const at = place.byteColumn - 1;
    this.#from = at < place.maxLength ? 0 : at - Math.floor(place.maxLength / 4);
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#count(bytes.subarray(0, Math.max(0, this.#place.byteColumn - 1 - this.#seen)));
    const room = this.#place.maxLength * MAX_BYTES_PER_CHARACTER + MAX_BYTES_PER_CHARACTER - this.#keptBytes;
    const start = Math.max(0, this.#from - this.#seen);
    const piece = bytes.subarray(start, start + room);
    if (piece.length > 0) this.#kept.push(Buffer.from(piece));
    this.#keptBytes += piece.length;
    this.#seen += bytes.length;
    this.#last = bytes.at(-1) ?? 0;
  }

  view(): LineView {
    const length = this.#last === CARRIAGE_RETURN ? this.#seen - 1 : this.#seen;
    const bytes = Buffer.concat(this.#kept).subarray(0, length - this.#from);
    let start = 0;
    while (this.#from > 0 && start < MAX_BYTES_PER_CHARACTER && isContinuation(bytes[start])) start += 1;
    const whole = bytes.toString('utf8', start);
    const text = firstCharacters(whole, this.#place.maxLength);
    const column = this.#place.byteColumn === 0 ? 0 : this.#charactersBefore + 1;
    const isAll = this.#from === 0 && bytes.length === length && text.length === whole.length;
    return { text, column, cut: !isAll };
  }

  #count(bytes: Buffer): void {
    if (isAscii(bytes)) this.#charactersBefore += bytes.length;
    else for (const byte of bytes) if (!isContinuation(byte)) this.#charactersBefore += 1;
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  let taken = 0;
  for (const character of text) {
    if (taken === count) break;
    taken += 1;
    end += character.length;
  }
  return text.slice(0, end);
}
