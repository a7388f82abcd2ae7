/** A file's symbols as a server lists them: nested, or flat from older ones. */
import { z } from 'zod';
import { flatRange, rangeShape, readAnswer, symbolInformationShape, type TextRange } from './answer-shapes.ts';
import { badAnswer } from './server-errors.ts';

export interface DocumentSymbol {
  readonly name: string;
  /** The protocol's number. */
  readonly kind: number;
  readonly detail?: string;
  readonly range: TextRange;
  readonly nameRange: TextRange;
  readonly children: readonly DocumentSymbol[];
}

export interface SymbolReading {
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

/** `hide` takes places of the host out of text. */
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
