/** Places in the protocol's counting and in ours: lines from 0, UTF-16 units, a byte order mark not counted. */
import type { SourceText } from '../parse/source-text.ts';

const BYTE_ORDER_MARK = 0xfeff;

export function toServerPlace(source: SourceText, byte: number): { readonly line: number; readonly character: number } {
  const offset = source.toOffset(byte);
  const line = source.rowOf(offset);
  return { line, character: offset - source.lineStart(line) - markBefore(source, line) };
}

/** Byte offset; a place after the end of its line is the end of the line. */
export function fromServerPlace(source: SourceText, line: number, character: number): number {
  const start = source.lineStart(line) + markBefore(source, line);
  const next = line + 1 < source.lineCount ? source.lineStart(line + 1) : source.text.length;
  return source.toByte(Math.min(start + character, next));
}

function markBefore({ text }: SourceText, line: number): number {
  return line === 0 && text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
}
