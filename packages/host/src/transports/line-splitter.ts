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
const NOTHING = Buffer.alloc(0);
/** Enough to find out whose request it was. */
const END_BYTES = 4096;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #tail: Buffer = NOTHING;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines this chunk completes. Lines of nothing but whitespace are no messages and are left out. */
  push(chunk: Buffer): readonly Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      const line = this.#take();
      if (line !== undefined) lines.push(line);
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
    return lines;
  }

  /** What is left when the input ends without a newline. */
  end(): readonly Line[] {
    const line = this.#take();
    return line === undefined ? [] : [line];
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

  #take(): Line | undefined {
    const isTooLarge = this.#length > this.#maxBytes;
    const parts = this.#parts;
    const bytes = parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? NOTHING);
    parts.length = 0;
    this.#length = 0;
    const tail = this.#tail;
    this.#tail = NOTHING;
    if (isTooLarge)
      return { ok: false, reason: 'too_large', head: bytes.toString('utf8'), tail: tail.toString('utf8') };
    if (!isUtf8(bytes)) return { ok: false, reason: 'invalid_utf8' };
    const text = bytes.toString('utf8');
    return text.trim() === '' ? undefined : { ok: true, text };
  }
}
