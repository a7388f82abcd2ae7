/** How secrets are kept out of what leaves the runtime. */
import type { JsonValue } from '@tool-runtime/protocol';

/** Changes bytes on their way through. What it holds back comes with a later chunk or with the end. */
export interface ByteFilter {
  push(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/** Values that are known to be secret. What holds none of them passes unchanged. */
export interface KnownSecrets {
  readonly isEmpty: boolean;
  text(text: string): string;
  /** The same value when nothing was found. */
  json<T extends JsonValue>(value: T): T;
  bytes(bytes: Uint8Array): Uint8Array;
  /** For bytes that come in chunks. */
  stream(): ByteFilter;
}
