/** Keeps the beginning and the end of a stream of any length in bounded memory, and counts all of it. */
import type { ArtifactRef, ArtifactStore, ArtifactWriter } from '../../contracts/artifacts.ts';
import type { CapturedStream } from '../../contracts/commands.ts';
import { firstCharacterStart, wholeCharactersEnd } from '../../text/encoding.ts';

export class OutputCapture {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Uint8Array[] = [];
  #headFilled = 0;
  /** A ring, made when the head is full. */
  #tail: Buffer | undefined;
  #total = 0;
  /** Line breaks after the head. */
  #breaks = 0;

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
    const bytes = this.#total - first.length - last.length;
    const lines = countBreaks(head.subarray(first.length)) + this.#breaks - countBreaks(last);
    const text = `${first.toString('utf8')}\n[… ${bytes} bytes, ${lines} lines left out …]\n${last.toString('utf8')}`;
    return { text, totalBytes: this.#total, truncated, gap: { from: first.length, bytes, lines } };
  }

  #addToTail(bytes: Uint8Array): void {
    this.#tail ??= Buffer.allocUnsafe(this.#tailBytes);
    this.#breaks += countBreaks(bytes);
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

const LINE_BREAK = 0x0a;

function countBreaks(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_BREAK); at !== -1; at = bytes.indexOf(LINE_BREAK, at + 1)) count += 1;
  return count;
}

/**
 * Keeps the whole of one stream: in memory while it is short, as an artifact once it is longer than the answer may be.
 *
 * A full disk does not end the command: then there is no artifact, and `problem` says why.
 */
export class OutputKeeper {
  readonly #artifacts: ArtifactStore;
  readonly #inlineBytes: number;
  #chunks: Uint8Array[] = [];
  #writer: ArtifactWriter | undefined;
  bytes = 0;
  /** What went wrong when the output was to be kept. */
  problem: unknown;

  constructor(artifacts: ArtifactStore, inlineBytes: number) {
    this.#artifacts = artifacts;
    this.#inlineBytes = inlineBytes;
  }

  /** Of the artifact while it is being written. */
  get handle(): string | undefined {
    return this.#writer?.handle;
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.problem !== undefined) return;
    if (this.#writer === undefined) {
      this.#chunks.push(chunk);
      if (this.bytes <= this.#inlineBytes) return;
    }
    try {
      this.#keep(chunk);
    } catch (thrown) {
      this.discard();
      this.problem = thrown;
    }
  }

  #keep(chunk: Uint8Array): void {
    if (this.#writer !== undefined) {
      this.#writer.write(chunk);
      return;
    }
    this.#writer = this.#artifacts.create();
    for (const kept of this.#chunks) this.#writer.write(kept);
    this.#chunks = [];
  }

  /** The artifact, where one was needed. */
  finish(): ArtifactRef | undefined {
    const writer = this.#writer;
    this.#writer = undefined;
    try {
      return writer?.finish();
    } catch (thrown) {
      this.problem = thrown;
      return undefined;
    }
  }

  /** It is no longer needed. */
  discard(): void {
    this.#chunks = [];
    this.#writer?.discard();
    this.#writer = undefined;
  }
}
