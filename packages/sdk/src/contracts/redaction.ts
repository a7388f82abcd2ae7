/** How secrets are kept out of what leaves the runtime. */
import type { JsonValue } from '@tool-runtime/protocol';

/** Changes bytes on their way through. What it holds back comes with a later chunk or with the end. */
export interface ByteFilter {
  /** Secrets masked so far. */
  readonly masked: number;
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/** Counts the secrets that were masked. */
export interface MaskCount {
  masked: number;
}

/** Values that are known to be secret. What holds none of them passes unchanged. Masks are added to `count`. */
export interface KnownSecrets {
  readonly isEmpty: boolean;
  text(text: string, count?: MaskCount): string;
  /** The same value when nothing was found. */
  json<T extends JsonValue>(value: T, count?: MaskCount): T;
  bytes(bytes: Uint8Array, count?: MaskCount): Uint8Array;
  /** For bytes that come in chunks. */
  stream(count?: MaskCount): ByteFilter;
}
