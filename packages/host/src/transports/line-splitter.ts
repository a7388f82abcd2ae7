/**
 * Bytes to lines of text. A line is held as bytes until it is whole, so a character cut in two by a chunk survives, and
 * a line over the limit is let go as it comes instead of being kept.
 */
import { isUtf8 } from 'node:buffer';

export type Line =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: 'too_large' | 'invalid_utf8' };

const NEWLINE = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines this chunk completes. Lines of nothing but whitespace are no messages and are left out. */
  *push(chunk: Buffer): Generator<Line> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      yield* this.#take();
    }
    this.#add(chunk.subarray(start));
  }

  /** What is left when the input ends without a newline. */
  end(): Generator<Line> {
    return this.#take();
  }

  #add(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) this.#parts = [];
    else if (bytes.length > 0) this.#parts.push(bytes);
  }

  *#take(): Generator<Line> {
    const isTooLarge = this.#length > this.#maxBytes;
    const [first = Buffer.alloc(0)] = this.#parts;
    const bytes = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first;
    this.#parts = [];
    this.#length = 0;
    if (isTooLarge) yield { ok: false, reason: 'too_large' };
    else if (!isUtf8(bytes)) yield { ok: false, reason: 'invalid_utf8' };
    else {
      const text = bytes.toString('utf8');
      if (text.trim() !== '') yield { ok: true, text };
    }
  }
}
