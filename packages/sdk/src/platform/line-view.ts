/**
 * What is handed back of a line: its text, or so many characters of it with the match among them, and the column in
 * characters. A line may be as long as memory allows the search program; only a window of it is kept here.
 */

export interface LineView {
  readonly text: string;
  /** From 1, in code points; zero for a line without a match. */
  readonly column: number;
  readonly cut: boolean;
}

const CARRIAGE_RETURN = 0x0d;
const MAX_BYTES_PER_CHARACTER = 4;

/** `byteColumn` is from 1, and zero for a line without a match. */
export interface LinePlace {
  readonly byteColumn: number;
  readonly maxLength: number;
}

export function viewLine(bytes: Buffer, { byteColumn, maxLength }: LinePlace): LineView {
  const length = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  if (length > maxLength) {
    const window = new LineWindow({ byteColumn, maxLength });
    window.add(bytes);
    return window.view();
  }
  const text = bytes.toString('utf8', 0, length);
  const isAscii = text.length === length;
  const column = byteColumn < 2 || isAscii ? byteColumn : countCharacters(bytes.toString('utf8', 0, byteColumn - 1)) + 1;
  return { text, column, cut: false };
}

/** A line that comes in pieces. */
export class LineWindow {
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
    // Copied: the piece may be all that keeps a large buffer alive.
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
    for (const byte of bytes) if (!isContinuation(byte)) this.#charactersBefore += 1;
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
