/** Large outputs, kept in the state folder and given out by handle. Holding the handle is the right to read. */
import type { MaybePromise } from './workspace.ts';

export interface ArtifactRef {
  /** `artifact:` + 32 hex digits, not guessable. */
  readonly handle: string;
  /** `sha256:` + hex. */
  readonly digest: string;
  readonly bytes: number;
}

export interface ArtifactWriter {
  /** Reads what was written so far, also before `finish`. */
  readonly handle: string;
  write(chunk: Uint8Array): void;
  finish(): ArtifactRef;
  discard(): void;
}

export interface ArtifactPage {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly totalBytes: number;
}

export interface ArtifactRange {
  readonly offset: number;
  readonly length: number;
}

export interface ArtifactStore {
  create(): ArtifactWriter;
  /** Throws E_FILE_IO for an unknown handle. A negative offset counts from the end. */
  read(handle: string, range: ArtifactRange): MaybePromise<ArtifactPage>;
  /** Removes what is older than `maxAgeMs`, then the oldest until `maxBytes` hold. Returns how many went. */
  prune(limits: { readonly maxAgeMs: number; readonly maxBytes: number; readonly now: number }): number;
}

/** On the disk of this machine: nothing to wait for. */
export interface LocalArtifacts extends ArtifactStore {
  read(handle: string, range: ArtifactRange): ArtifactPage;
}
