/**
 * Bytes to lines of text. A line is held as bytes until it is whole, so a character cut in two by a chunk survives, and
 * a line over the limit is let go as it comes instead of being kept.
 */
export type Line =
  | { readonly text: string; readonly isWhole: boolean }
  | { readonly fault: 'too_large' | 'invalid_utf8'; readonly isWhole: boolean };

const NEWLINE = 0x0a;

/** The last line is not whole when the input ends without a newline. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): AsyncGenerator<Line, void> {
  const encoder = new TextEncoder();
  const line = new HeldLine(maxBytes);
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end));
      yield line.take({ isWhole: true });
      start = end + 1;
    }
    line.add(bytes.subarray(start));
  }
  yield line.take({ isWhole: false });
}

class HeldLine {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) this.#parts = [];
    else if (bytes.length > 0) this.#parts.push(bytes);
  }

  take({ isWhole }: { readonly isWhole: boolean }): Line {
    const isTooLarge = this.#length > this.#maxBytes;
    const bytes = joined(this.#parts);
    this.#parts = [];
    this.#length = 0;
    if (isTooLarge) return { fault: 'too_large', isWhole };
    try {
      return { text: this.#decoder.decode(bytes), isWhole };
    } catch {
      // May stop here: the fault is told instead of the line.
      return { fault: 'invalid_utf8', isWhole };
    }
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(0)] = parts;
  if (parts.length <= 1) return first;
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}
