/**
 * Bytes to lines of text. A line is held as bytes until it is whole, so a character cut in two by a chunk survives, and
 * a line over the limit is let go as it comes instead of being kept, all but its two ends.
 */
import { isUtf8 } from 'node:buffer';

export type Line =
  | { readonly ok: true; readonly text: string }
  /** `head` and `tail`: the first and last bytes of a line that was too large. */
  | { readonly ok: false; readonly reason: 'too_large'; readonly head: string; readonly tail: string }
  | { readonly ok: false; readonly reason: 'invalid_utf8' };

const NEWLINE = 0x0a;
/** Enough to find out whose request it was. */
const END_BYTES = 4096;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #tail = Buffer.alloc(0);
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
    if (this.#length > this.#maxBytes) this.#keepEnds(bytes);
    else if (bytes.length > 0) this.#parts.push(bytes);
  }

  /** Copies: a slice would hold on to the whole chunk. */
  #keepEnds(bytes: Buffer): void {
    const isFirst = this.#length - bytes.length <= this.#maxBytes;
    const whole = isFirst ? Buffer.concat([...this.#parts, bytes]) : bytes;
    if (isFirst) this.#parts = [Buffer.from(whole.subarray(0, END_BYTES))];
    this.#tail = Buffer.concat([this.#tail, whole.subarray(-END_BYTES)]).subarray(-END_BYTES);
  }

  *#take(): Generator<Line> {
    const isTooLarge = this.#length > this.#maxBytes;
    const [first = Buffer.alloc(0)] = this.#parts;
    const bytes = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first;
    this.#parts = [];
    this.#length = 0;
    const tail = this.#tail;
    this.#tail = Buffer.alloc(0);
    if (isTooLarge) yield { ok: false, reason: 'too_large', head: bytes.toString('utf8'), tail: tail.toString('utf8') };
    else if (!isUtf8(bytes)) yield { ok: false, reason: 'invalid_utf8' };
    else {
      const text = bytes.toString('utf8');
      if (text.trim() !== '') yield { ok: true, text };
    }
  }
}
