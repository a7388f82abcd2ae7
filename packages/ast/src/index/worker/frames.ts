/**
 * Messages between the index and a parse process: a small head as JSON, and blocks of bytes. On the wire these are two
 * lengths, the head, the blocks. The process reads and writes them synchronously, the index as they come.
 */
export interface Frame {
  readonly head: { readonly [key: string]: unknown };
  /** In the memory of the reader: valid until it reads on. */
  readonly blocks: readonly Uint8Array[];
}

const LENGTHS_BYTES = 8;
const FIRST_BYTES = 64 * 1024;

export function writeFrame({ head, blocks }: Frame): Buffer {
  const text = Buffer.from(JSON.stringify({ ...head, sizes: blocks.map(({ byteLength }) => byteLength) }));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  const total = blocks.reduce((sum, { byteLength }) => sum + byteLength, text.length);
  lengths.writeUInt32LE(text.length, 0);
  lengths.writeUInt32LE(total, 4);
  return Buffer.concat([lengths, text, ...blocks]);
}

/** Puts bytes together to frames. */
export class FrameReader {
  #bytes = Buffer.alloc(FIRST_BYTES);
  #start = 0;
  #end = 0;

  /** Room to write bytes into; `wrote` says how many there are. Frames read before are gone. */
  room(): Buffer {
    if (this.#start > 0) {
      this.#bytes.copy(this.#bytes, 0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    const wanted = Math.max(this.#wanted(), this.#end + FIRST_BYTES / 2);
    if (wanted > this.#bytes.length) {
      const larger = Buffer.alloc(2 * wanted);
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    return this.#bytes.subarray(this.#end);
  }

  wrote(count: number): void {
    this.#end += count;
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength; ) {
      const room = this.room();
      const part = chunk.subarray(at, at + room.length);
      room.set(part);
      this.wrote(part.byteLength);
      at += part.byteLength;
    }
  }

  /** Undefined when more bytes are needed. */
  next(): Frame | undefined {
    const wanted = this.#wanted();
    if (this.#end - this.#start < wanted) return undefined;
    const headEnd = this.#start + LENGTHS_BYTES + this.#bytes.readUInt32LE(this.#start);
    const { sizes, ...head } = JSON.parse(this.#bytes.toString('utf8', this.#start + LENGTHS_BYTES, headEnd)) as {
      readonly sizes: readonly number[];
    };
    let at = headEnd;
    const blocks = sizes.map((size) => {
      at += size;
      return this.#bytes.subarray(at - size, at);
    });
    this.#start += wanted;
    return { head, blocks };
  }

  /** Bytes of the next frame, or of the part that says how many there are. */
  #wanted(): number {
    if (this.#end - this.#start < LENGTHS_BYTES) return LENGTHS_BYTES;
    return LENGTHS_BYTES + this.#bytes.readUInt32LE(this.#start + 4);
  }
}
