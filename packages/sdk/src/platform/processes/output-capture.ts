/** Keeps the beginning and the end of a stream of any length in bounded memory, and counts all of it. */
import type { CapturedStream } from '../../contracts/commands.ts';

export class OutputCapture {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Uint8Array[] = [];
  #headFilled = 0;
  /** A ring, made when the head is full. */
  #tail: Buffer | undefined;
  #total = 0;

  constructor(maxBytes: number) {
    this.#headBytes = Math.ceil(maxBytes / 2);
    this.#tailBytes = maxBytes - this.#headBytes;
  }

  add(chunk: Uint8Array): void {
    const forHead = chunk.subarray(0, this.#headBytes - this.#headFilled);
    if (forHead.length > 0) {
      this.#head.push(forHead);
      this.#headFilled += forHead.length;
    }
    this.#total += forHead.length;
    if (forHead.length < chunk.length) this.#addToTail(chunk.subarray(forHead.length));
  }

  finish(): CapturedStream {
    const head = Buffer.concat(this.#head);
    const tail = this.#unrolledTail();
    const truncated = this.#total > head.length + tail.length;
    if (!truncated) return { text: Buffer.concat([head, tail]).toString('utf8'), totalBytes: this.#total, truncated };
    const first = head.subarray(0, wholeCharactersEnd(head));
    const last = tail.subarray(firstCharacterStart(tail));
    const leftOut = this.#total - first.length - last.length;
    const text = `${first.toString('utf8')}\n[… ${leftOut} bytes left out …]\n${last.toString('utf8')}`;
    return { text, totalBytes: this.#total, truncated };
  }

  #addToTail(bytes: Uint8Array): void {
    this.#tail ??= Buffer.allocUnsafe(this.#tailBytes);
    // Only the newest fit; where they go follows from the count alone.
    const newest = bytes.subarray(Math.max(0, bytes.length - this.#tailBytes));
    const from = this.#total - this.#headBytes + bytes.length - newest.length;
    const at = this.#tailBytes === 0 ? 0 : from % this.#tailBytes;
    const untilEnd = newest.subarray(0, this.#tailBytes - at);
    this.#tail.set(untilEnd, at);
    this.#tail.set(newest.subarray(untilEnd.length), 0);
    this.#total += bytes.length;
  }

  #unrolledTail(): Buffer {
    const seen = this.#total - this.#headFilled;
    if (this.#tail === undefined || seen <= this.#tailBytes) return this.#tail?.subarray(0, seen) ?? Buffer.alloc(0);
    const start = seen % this.#tailBytes;
    return Buffer.concat([this.#tail.subarray(start), this.#tail.subarray(0, start)]);
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
const LONGEST_CHARACTER = 4;

/** Where the last character that is all there ends. Bytes that are no UTF-8 are left as they are. */
function wholeCharactersEnd(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - LONGEST_CHARACTER && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return length > 1 && start + length > bytes.length ? Math.max(start, 0) : bytes.length;
}

function firstCharacterStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < LONGEST_CHARACTER - 1 && isContinuation(bytes[start])) start++;
  return start;
}
