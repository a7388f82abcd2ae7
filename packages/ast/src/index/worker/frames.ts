/**
 * Messages between the index and a parse process: a small head as JSON, and blocks of bytes. On the wire these are two
 * lengths, the head, the blocks. The process reads and writes them synchronously, the index as they come.
 */
export interface Frame {
  readonly head: { readonly [key: string]: unknown };
  readonly blocks: readonly Uint8Array[];
}

const LENGTHS_BYTES = 8;

/** The bytes of a frame in pieces, of which the blocks are the frame's own. */
export function frameBytes({ head, blocks }: Frame): readonly Uint8Array[] {
  const text = JSON.stringify({ ...head, sizes: blocks.map(({ byteLength }) => byteLength) });
  const length = Buffer.byteLength(text);
  const start = Buffer.allocUnsafe(LENGTHS_BYTES + length);
  start.writeUInt32LE(length, 0);
  start.writeUInt32LE(
    blocks.reduce((sum, { byteLength }) => sum + byteLength, length),
    4,
  );
  start.write(text, LENGTHS_BYTES);
  return [start, ...blocks];
}

/** Puts chunks together to frames. It never writes to a chunk, and copies only what lies in two of them. */
export class FrameReader {
  #chunks: Buffer[] = [];
  /** Of the first chunk, what was taken. */
  #start = 0;
  #length = 0;
  /** Of the next frame, once its lengths are taken: of its head, and of all of it. */
  #lengths: readonly [number, number] | undefined;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Undefined when more bytes are needed. */
  next(): Frame | undefined {
    if (this.#lengths === undefined) {
      if (this.#length < LENGTHS_BYTES) return undefined;
      const lengths = this.#take(LENGTHS_BYTES);
      this.#lengths = [lengths.readUInt32LE(0), lengths.readUInt32LE(4)];
    }
    const [headLength, total] = this.#lengths;
    if (this.#length < total) return undefined;
    this.#lengths = undefined;
    const bytes = this.#take(total);
    const { sizes, ...head } = JSON.parse(bytes.toString('utf8', 0, headLength)) as {
      readonly sizes: readonly number[];
    };
    let at = headLength;
    const blocks = sizes.map((size) => {
      at += size;
      return bytes.subarray(at - size, at);
    });
    return { head, blocks };
  }

  #take(count: number): Buffer {
    const [first] = this.#chunks;
    this.#length -= count;
    if (first !== undefined && first.length - this.#start > count) {
      this.#start += count;
      return first.subarray(this.#start - count, this.#start);
    }
    const taken = Buffer.allocUnsafe(count);
    for (let filled = 0; filled < count; ) {
      const chunk = this.#chunks[0] ?? taken;
      const copied = chunk.copy(taken, filled, this.#start);
      filled += copied;
      this.#start += copied;
      if (this.#start < chunk.length) break;
      this.#chunks.shift();
      this.#start = 0;
    }
    return taken;
  }
}
