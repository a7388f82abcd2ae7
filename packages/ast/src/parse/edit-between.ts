/** The one replacement that turns an old text into a new one, in the parser's terms. */
import { Edit, type Point } from 'web-tree-sitter';
import type { SourceText } from './source-text.ts';

const CHUNK = 4_096;

/** Undefined when the texts are equal. The cut never goes through a surrogate pair. */
export function editBetween(before: SourceText, after: SourceText): Edit | undefined {
  const oldText = before.text;
  const newText = after.text;
  if (oldText === newText) return undefined;
  const start = outsidePair(oldText, commonPrefix(oldText, newText));
  const most = Math.min(oldText.length, newText.length) - start;
  let tail = commonSuffix(oldText, newText, most);
  if (tail > 0 && isLowHalf(oldText, oldText.length - tail)) tail -= 1;
  const oldEndIndex = oldText.length - tail;
  const newEndIndex = newText.length - tail;
  return new Edit({
    startIndex: start,
    oldEndIndex,
    newEndIndex,
    startPosition: pointAt(before, start),
    oldEndPosition: pointAt(before, oldEndIndex),
    newEndPosition: pointAt(after, newEndIndex),
  });
}

/** Whole chunks are compared as strings, which is a memory comparison; only the differing one unit by unit. */
function commonPrefix(left: string, right: string): number {
  const most = Math.min(left.length, right.length);
  let at = 0;
  while (at + CHUNK <= most && left.slice(at, at + CHUNK) === right.slice(at, at + CHUNK)) at += CHUNK;
  while (at < most && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  return at;
}

function commonSuffix(left: string, right: string, most: number): number {
  let length = 0;
  while (length + CHUNK <= most && chunkBefore(left, length) === chunkBefore(right, length)) length += CHUNK;
  while (length < most && left.charCodeAt(left.length - length - 1) === right.charCodeAt(right.length - length - 1)) {
    length++;
  }
  return length;
}

function chunkBefore(text: string, tail: number): string {
  return text.slice(text.length - tail - CHUNK, text.length - tail);
}

function outsidePair(text: string, at: number): number {
  return at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}

function isLowHalf(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

function pointAt(source: SourceText, offset: number): Point {
  const row = source.rowOf(offset);
  return { row, column: offset - source.lineStart(row) };
}
