/** What callers ask language servers with and get back. Lines and characters count from 0, characters in UTF-16 units. */
import { z } from 'zod';
import {
  flatRange,
  rangeShape,
  readAnswer,
  symbolInformationShape,
  type TextPosition,
  type TextRange,
} from './answer-shapes.ts';
import { badAnswer } from './server-errors.ts';

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

export interface DocumentSymbol {
  readonly name: string;
  /** The protocol's number. */
  readonly kind: number;
  readonly detail?: string;
  readonly range: TextRange;
  readonly nameRange: TextRange;
  readonly children: readonly DocumentSymbol[];
}

interface SymbolReading {
  readonly method: string;
  hide(text: string): string;
}

const MAX_DEPTH = 100;

const nested = z.object({
  name: z.string(),
  kind: z.int(),
  detail: z.string().optional(),
  range: rangeShape,
  selectionRange: rangeShape,
  children: z.array(z.unknown()).nullish(),
});

/**
 * A file's symbols as a server lists them: nested, or flat from older ones.
 *
 * `hide` takes places of the host out of text.
 */
export function readDocumentSymbols(answer: unknown, { method, hide }: SymbolReading): readonly DocumentSymbol[] {
  const items = readAnswer(z.array(z.unknown()).nullable(), answer, method) ?? [];
  return items.map((item) => readSymbol(item, { method, hide }, 0));
}

function readSymbol(item: unknown, reading: SymbolReading, depth: number): DocumentSymbol {
  const { method, hide } = reading;
  if (depth > MAX_DEPTH) throw badAnswer(method, 'nested too deeply');
  const flat = symbolInformationShape.safeParse(item);
  if (flat.success) {
    const { name, kind, location } = flat.data;
    const range = flatRange(readAnswer(rangeShape, location.range, method));
    return { name: hide(name), kind, range, nameRange: range, children: [] };
  }
  const symbol = readAnswer(nested, item, method);
  return {
    name: hide(symbol.name),
    kind: symbol.kind,
    ...(symbol.detail === undefined ? {} : { detail: hide(symbol.detail) }),
    range: flatRange(symbol.range),
    nameRange: flatRange(symbol.selectionRange),
    children: (symbol.children ?? []).map((child) => readSymbol(child, reading, depth + 1)),
  };
}
