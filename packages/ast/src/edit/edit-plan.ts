/**
 * What an edit would do, whole and checked, before anything is written.
 *
 * A plan is bound to the content it was made from: `sha256` of every file is the precondition under which it applies.
 */
import type { ByteSpan } from '../contracts/facts.ts';

/**
 * How the places were found. `proven`: scopes and language server agree. `resolver`, `server`: only one of them could
 * be asked. `tree`: the syntax tree alone, because the operation needs no more.
 */
export type Confidence = 'proven' | 'resolver' | 'server' | 'tree';

/** A replacement in the file as it was, in bytes. */
export interface ByteEdit extends ByteSpan {
  readonly bytes: Uint8Array;
}

export interface PlannedFile {
  readonly path: string;
  /** Null for a file that the plan creates. */
  readonly before: Uint8Array | null;
  /** Null for a file that the plan removes. */
  readonly after: Uint8Array | null;
  /** Of `before`. */
  readonly sha256: string | null;
  /** In file order, none overlapping; formatting is not among them. */
  readonly edits: readonly ByteEdit[];
}

export type ResidualKind = 'code' | 'member' | 'macro' | 'string' | 'comment' | 'generated' | 'unparsed' | 'match';

/** A place that bears the old name and was left as it is. Lines and columns start at 1, columns count UTF-16 units. */
export interface Residual {
  readonly file: string;
  readonly line: number;
  readonly col: number;
  readonly kind: ResidualKind;
}

export interface EditPlan {
  readonly operation: string;
  /** By path. Files whose content stays the same are not listed. */
  readonly files: readonly PlannedFile[];
  readonly edits: number;
  readonly confidence: Confidence;
  /** Old id → new id of every declaration whose id changes and that is still the same one. */
  readonly renamedIds: Readonly<Record<string, string>>;
  readonly residual: readonly Residual[];
  readonly warnings: readonly string[];
}
