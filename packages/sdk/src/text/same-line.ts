/**
 * When two lines count as the same.
 *
 * Exactly: every byte. Tolerantly: the same without the line end, and all lines of nothing but blanks are one, because
 * diffs lose carriage returns and trailing spaces on their way. Loosely: the same without the blanks around, which is
 * good enough to point at a place and never to change it. All are equivalences, so keys can stand for lines.
 */
import type { Lines } from './line-table.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const TAB = 9;
/** A call into native code costs more than comparing this many bytes here. */
const SHORT_BYTES = 96;

/** The part of a line that counts. */
interface LineKey {
  keyStart(lines: Lines, index: number): number;
  keyEnd(lines: Lines, index: number): number;
}

export interface LineComparison extends LineKey {
  same(a: Lines, i: number, b: Lines, j: number): boolean;
}

const lineStart = (lines: Lines, index: number): number => lines.start(index);

export const exactly = compareBy({ keyStart: lineStart, keyEnd: (lines, index) => lines.end(index) });
/** The same without the line end. */
export const byContent = compareBy({ keyStart: lineStart, keyEnd: withoutLineEnd });
export const tolerantly = compareBy({ keyStart: lineStart, keyEnd: contentEnd });
export const loosely = compareBy({ keyStart: textStart, keyEnd: textEnd });

function compareBy(key: LineKey): LineComparison {
  return {
    ...key,
    same(a, i, b, j) {
      const start = key.keyStart(a, i);
      const other = key.keyStart(b, j);
      const length = key.keyEnd(a, i) - start;
      if (length !== key.keyEnd(b, j) - other) return false;
      if (length > SHORT_BYTES) return a.bytes.compare(b.bytes, other, other + length, start, start + length) === 0;
      for (let offset = 0; offset < length; offset++) {
        if (a.bytes[start + offset] !== b.bytes[other + offset]) return false;
      }
      return true;
    },
  };
}

/** The end without the line end; the start for a line of blanks. */
function contentEnd(lines: Lines, index: number): number {
  const end = withoutLineEnd(lines, index);
  return textStart(lines, index) === end ? lines.start(index) : end;
}

function textStart(lines: Lines, index: number): number {
  const end = withoutLineEnd(lines, index);
  let start = lines.start(index);
  while (start < end && isBlank(lines.bytes[start])) start += 1;
  return start;
}

function textEnd(lines: Lines, index: number): number {
  const start = textStart(lines, index);
  let end = withoutLineEnd(lines, index);
  while (end > start && isBlank(lines.bytes[end - 1])) end -= 1;
  return end;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

/** The end of a line without line feed and carriage return. */
export function withoutLineEnd(lines: Lines, index: number): number {
  const start = lines.start(index);
  let end = lines.end(index);
  if (end > start && lines.bytes[end - 1] === LINE_FEED) end -= 1;
  if (end > start && lines.bytes[end - 1] === CARRIAGE_RETURN) end -= 1;
  return end;
}

export function endsInLineFeed(lines: Lines, index: number): boolean {
  const end = lines.end(index);
  return end > lines.start(index) && lines.bytes[end - 1] === LINE_FEED;
}

export function endsInCarriageReturn(lines: Lines, index: number): boolean {
  return endsInLineFeed(lines, index) && lines.end(index) - withoutLineEnd(lines, index) === 2;
}
