/** Where a run of lines occurs in a text. Time grows with the text plus the run, whatever they hold. */
import { ADDED, REMOVED } from './diff-reader.ts';
import type { Lines, LineTable, TextLines } from './line-table.ts';
import type { Hunk } from './unified-diff.ts';

/** The old or the new lines of one hunk, without the other side's. */
export class HunkSide implements Lines {
  readonly bytes: Buffer;
  readonly length: number;
  readonly #table: LineTable;
  readonly #rows: Int32Array;

  constructor(table: LineTable, hunk: Hunk, side: 'old' | 'new') {
    const leftOut = side === 'old' ? ADDED : REMOVED;
    this.bytes = table.bytes;
    this.length = hunk.endRow - hunk.firstRow - (side === 'old' ? hunk.added : hunk.removed);
    this.#table = table;
    this.#rows = new Int32Array(this.length);
    let filled = 0;
    for (let row = hunk.firstRow; row < hunk.endRow; row++) {
      if (table.mark(row) !== leftOut) this.#rows[filled++] = row;
    }
  }

  start(index: number): number {
    return this.#table.start(this.#rows[index] ?? 0);
  }

  end(index: number): number {
    return this.#table.end(this.#rows[index] ?? 0);
  }

  /** Said to be the end of a file that has no newline there. */
  get isBare(): boolean {
    return this.length > 0 && !endsInLineFeed(this, this.length - 1);
  }
}

export interface Wanted {
  readonly side: HunkSide;
  /** The run must be the end of the text. */
  readonly mustEndFile: boolean;
}

export function isAt(text: TextLines, { side, mustEndFile }: Wanted, index: number, lines: LineComparison): boolean {
  if (index < 0 || !text.has(index + side.length - 1)) return false;
  if (mustEndFile && text.has(index + side.length)) return false;
  for (let offset = 0; offset < side.length; offset++) {
    if (!lines.same(text, index + offset, side, offset)) return false;
  }
  return true;
}

export interface SearchRange {
  readonly from: number;
  /** Give up after so many. */
  readonly limit: number;
}

/** Indexes of the first lines, in order. An empty run is nowhere. */
export function findLines(text: TextLines, wanted: Wanted, lines: LineComparison, range: SearchRange): number[] {
  const { side } = wanted;
  if (side.length === 0) return [];
  if (wanted.mustEndFile) {
    const index = text.count() - side.length;
    return index >= range.from && isAt(text, wanted, index, lines) ? [index] : [];
  }
  const keys = new LineKeys(side, lines);
  const wantedIds = Int32Array.from({ length: side.length }, (_, index) => keys.idOf(side, index));
  const fallback = fallbackTable(wantedIds);
  const found: number[] = [];
  let matched = 0;
  for (let index = range.from; text.has(index) && found.length < range.limit; index++) {
    const id = keys.idOf(text, index);
    while (matched > 0 && id !== wantedIds[matched]) matched = fallback[matched - 1] ?? 0;
    if (id === wantedIds[matched]) matched += 1;
    if (matched < side.length) continue;
    found.push(index - side.length + 1);
    matched = fallback[matched - 1] ?? 0;
  }
  return found;
}

/** Knuth, Morris, Pratt: how much of the run still matches when its next line does not match. */
function fallbackTable(ids: Int32Array): Int32Array {
  const table = new Int32Array(ids.length);
  for (let index = 1, length = 0; index < ids.length; index++) {
    while (length > 0 && ids[index] !== ids[length]) length = table[length - 1] ?? 0;
    if (ids[index] === ids[length]) length += 1;
    table[index] = length;
  }
  return table;
}

/** Numbers for the lines of a run: equal lines have equal numbers, and any other line has -1. */
export class LineKeys {
  readonly #ids = new Map<string, number>();
  /** Most other lines differ in this and are not worth decoding. */
  readonly #prints = new Set<number>();
  readonly #lines: LineComparison;

  constructor(run: HunkSide, lines: LineComparison) {
    this.#lines = lines;
    for (let index = 0; index < run.length; index++) {
      const start = lines.keyStart(run, index);
      const end = lines.keyEnd(run, index);
      const key = run.bytes.toString('latin1', start, end);
      this.#prints.add(printOf(run.bytes, start, end));
      if (!this.#ids.has(key)) this.#ids.set(key, this.#ids.size);
    }
  }

  idOf(lines: Lines, index: number): number {
    const start = this.#lines.keyStart(lines, index);
    const end = this.#lines.keyEnd(lines, index);
    if (!this.#prints.has(printOf(lines.bytes, start, end))) return -1;
    return this.#ids.get(lines.bytes.toString('latin1', start, end)) ?? -1;
  }
}

/** Equal for equal ranges: the length and up to some sixty bytes, as one small number. */
function printOf(bytes: Buffer, start: number, end: number): number {
  const step = ((end - start) >> 5) + 1;
  let print = end - start;
  for (let at = start; at < end; at += step) print = (Math.imul(print, 31) + (bytes[at] ?? 0)) & 0x3fffffff;
  return print;
}

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

/**
 * When two lines count as the same.
 *
 * Exactly: every byte. Tolerantly: the same without the line end, and all lines of nothing but blanks are one, because
 * diffs lose carriage returns and trailing spaces on their way. Loosely: the same without the blanks around, which is
 * good enough to point at a place and never to change it. All are equivalences, so keys can stand for lines.
 *
 * The end of a line without line feed and carriage return.
 */
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
