/** Line and column of an offset, from 1; columns count UTF-16 units. */
import type { SourceText } from '../../parse/source-text.ts';

export function placeOf(source: SourceText, offset: number): { readonly line: number; readonly col: number } {
  const row = source.rowOf(offset);
  return { line: row + 1, col: offset - source.lineStart(row) + 1 };
}
