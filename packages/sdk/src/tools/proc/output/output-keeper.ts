/** Keeps the whole of one stream: in memory while it is short, as an artifact once it is longer than the answer may be. */
import type { ArtifactRef, ArtifactStore, ArtifactWriter } from '../../../contracts/artifacts.ts';

export class OutputKeeper {
  readonly #artifacts: ArtifactStore;
  readonly #inlineBytes: number;
  #chunks: Uint8Array[] = [];
  #writer: ArtifactWriter | undefined;
  bytes = 0;

  constructor(artifacts: ArtifactStore, inlineBytes: number) {
    this.#artifacts = artifacts;
    this.#inlineBytes = inlineBytes;
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.#writer !== undefined) {
      this.#writer.write(chunk);
      return;
    }
    this.#chunks.push(chunk);
    if (this.bytes <= this.#inlineBytes) return;
    this.#writer = this.#artifacts.create();
    for (const kept of this.#chunks) this.#writer.write(kept);
    this.#chunks = [];
  }

  /** The artifact, where one was needed. */
  finish(): ArtifactRef | undefined {
    return this.#writer?.finish();
  }
}
