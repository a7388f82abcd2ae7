/** What a rename would do, as data. Nothing here has been written. */
import type { SourceText } from '../../parse/source-text.ts';
import type { Engine } from '../../symbols/engine.ts';
import type { Specifier } from '../module-system.ts';
import type { NameToken, ProjectFiles } from '../scope-model.ts';

export interface RenameTarget {
  readonly path: string;
  /** Byte offset of a token that is the name: the declaration, or a use of it. */
  readonly nameStart: number;
  readonly name: string;
}

export interface RenameRequest {
  readonly files: ProjectFiles;
  readonly engine: Engine;
  readonly target: RenameTarget;
  readonly newName: string;
  readonly signal?: AbortSignal;
  /** Edit generated and vendored files too. */
  readonly allowGenerated?: boolean;
}

export type EditRole = 'definition' | 'reference' | 'import' | 'export' | 'member' | 'shorthand' | 'opaque' | 'string';

export interface RenameEdit {
  readonly path: string;
  /** Bytes. */
  readonly start: number;
  readonly end: number;
  readonly newText: string;
  readonly role: EditRole;
}

export type ResidualKind = 'string' | 'comment' | 'member' | 'opaque' | 'code';

/** The old name at a place that was neither edited nor proven to be something else. */
export interface Residual {
  readonly path: string;
  /** From 1; columns count UTF-16 units. */
  readonly line: number;
  readonly col: number;
  readonly kind: ResidualKind;
  /** It belongs to the target, but the file is generated or vendored. */
  readonly isGenerated?: boolean;
}

export interface RenameConflict {
  readonly path: string;
  readonly line: number;
  readonly col: number;
  /**
   * `collision`: the new name is taken where it would be declared. `capture`: a use of the target would mean something
   * else. `shadow`: a use of something else would mean the target.
   */
  readonly kind: 'collision' | 'capture' | 'shadow';
  /** The name, and where what it meets is declared, when that is known. */
  readonly with: string;
}

export type RefusalReason =
  | 'unsupported_language'
  | 'invalid_name'
  | 'stale_target'
  | 'parse_error'
  | 'unreadable'
  | 'needs_server'
  | 'visibility'
  | 'generated'
  | 'nothing_to_edit';

export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  readonly at?: { readonly path: string; readonly line: number; readonly col: number };
}

export interface RenamePlan {
  /** By path and start; no two overlap. */
  readonly edits: readonly RenameEdit[];
  readonly residual: readonly Residual[];
  readonly conflicts: readonly RenameConflict[];
  /** Uses that keep the old name, because a list passes it on under that name: `export { renamed as old }`. */
  readonly kept: readonly Pick<RenameEdit, 'path' | 'start'>[];
  readonly refused?: Refusal;
  /** Files that contain the old name and were looked at. */
  readonly candidateFiles: readonly string[];
}

/** Line and column of an offset, from 1; columns count UTF-16 units. */
export function placeOf(source: SourceText, offset: number): { readonly line: number; readonly col: number } {
  const row = source.rowOf(offset);
  return { line: row + 1, col: offset - source.lineStart(row) + 1 };
}

/** What a token does with the name, in the words of answers. */
export function roleOf({ role, isString, shorthand }: NameToken, specifier: Specifier | undefined): EditRole {
  if (specifier !== undefined) return specifier.kind;
  if (shorthand !== undefined) return 'shorthand';
  if (role === 'opaque' || role === 'member') return role;
  if (isString) return 'string';
  return role === 'definition' ? 'definition' : 'reference';
}
