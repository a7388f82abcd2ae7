/**
 * Keeps the whole of one stream: in memory while it is short, as an artifact once it is longer than the answer may be.
 *
 * A full disk is no reason to end the command whose output it is: then there is no artifact, and `problem` says why.
 */
import type { ArtifactRef, ArtifactStore, ArtifactWriter } from '../../contracts/artifacts.ts';

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

  /** Nobody will ask for it. */
  discard(): void {
    this.#chunks = [];
    this.#writer?.discard();
    this.#writer = undefined;
  }
}
