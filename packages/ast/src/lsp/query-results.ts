/** What callers ask language servers with and get back. Lines and characters count from 0, characters in UTF-16 units. */
import type { TextPosition, TextRange } from './answer-shapes.ts';

/** A place in a file, in the protocol's own counting: from 0, UTF-16 units. */
export interface PlaceInFile extends TextPosition {
  /** Workspace-relative. */
  readonly path: string;
}

export interface FoundRange extends TextRange {
  /** Workspace-relative, or an opaque name that begins with `external:`. */
  readonly path: string;
}

export interface Hover {
  readonly text: string;
  readonly range?: TextRange;
}

export interface WorkspaceSymbol extends Partial<TextRange> {
  readonly name: string;
  readonly kind: number;
  readonly container?: string;
  readonly path: string;
}

export interface RenameTarget {
  /** Absent when the server leaves the word to its client. */
  readonly range?: TextRange;
  readonly placeholder?: string;
}

export interface CodeAction {
  /** To be resolved by this process. */
  readonly handle: string;
  readonly title: string;
  readonly kind?: string;
  readonly isPreferred: boolean;
  /** Why it cannot be applied now. */
  readonly disabled?: string;
}

export interface EditOptions {
  /** Accept an edit that also creates, renames or deletes files. */
  readonly allowFileOperations?: boolean;
}

export interface CodeActionFilter {
  /** Kinds, such as `source.organizeImports`. */
  readonly only?: readonly string[];
}
