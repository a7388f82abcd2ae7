/**
 * Lines as byte ranges of a buffer, terminator included: nothing is decoded, so nothing can be lost.
 *
 * Two kinds: the lines of a text, found as far as they are needed, and a list of chosen ranges.
 */
import { asBuffer } from './encoding.ts';

export interface Lines {
  readonly bytes: Buffer;
  start(index: number): number;
  /** Behind the line feed; a last line without one ends where it ends. */
  end(index: number): number;
}

const LINE_FEED = 10;
const FIRST_CAPACITY = 64;

/** The lines of a whole text, from 0. Asking for line n looks no further than its end. */
export class TextLines implements Lines {
  readonly bytes: Buffer;
  /** Starts of the lines found so far and, last, where the next one begins. */
  #starts = new Int32Array(FIRST_CAPACITY);
  #found = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = asBuffer(bytes);
  }

  has(index: number): boolean {
    this.#reach(index);
    return index < this.#found;
  }

  start(index: number): number {
    this.#reach(index - 1);
    return this.#at(index);
  }

  end(index: number): number {
    this.#reach(index);
    return this.#at(index + 1);
  }

  /** Looks at the whole text. */
  count(): number {
    this.#reach(Number.POSITIVE_INFINITY);
    return this.#found;
  }

  #at(index: number): number {
    return index <= this.#found ? (this.#starts[index] ?? 0) : this.bytes.length;
  }

  #reach(index: number): void {
    const { bytes } = this;
    let next = this.#starts[this.#found] ?? 0;
    while (this.#found <= index && next < bytes.length) {
      const feed = bytes.indexOf(LINE_FEED, next);
      next = feed === -1 ? bytes.length : feed + 1;
      this.#found += 1;
      if (this.#found === this.#starts.length) this.#starts = grown(this.#starts);
      this.#starts[this.#found] = next;
    }
  }
}

/** Chosen ranges, each with a mark. Twelve bytes a line, because a diff may be nothing but lines. */
export class LineTable implements Lines {
  readonly bytes: Buffer;
  #rows = new Int32Array(FIRST_CAPACITY * 3);
  #length = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get length(): number {
    return this.#length;
  }

  push(mark: number, start: number, end: number): void {
    const row = this.#length * 3;
    if (row === this.#rows.length) this.#rows = grown(this.#rows);
    this.#rows[row] = mark;
    this.#rows[row + 1] = start;
    this.#rows[row + 2] = end;
    this.#length += 1;
  }

  mark(index: number): number {
    return this.#rows[index * 3] ?? 0;
  }

  start(index: number): number {
    return this.#rows[index * 3 + 1] ?? 0;
  }

  end(index: number): number {
    return this.#rows[index * 3 + 2] ?? 0;
  }

  setEnd(index: number, end: number): void {
    this.#rows[index * 3 + 2] = end;
  }

  truncate(length: number): void {
    this.#length = length;
  }
}

function grown(full: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(full.length * 2);
  larger.set(full);
  return larger;
}
