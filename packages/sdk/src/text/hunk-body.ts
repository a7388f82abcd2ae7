/**
 * The lines below one hunk header.
 *
 * The header says how many lines follow, and exactly so many must follow: a hunk that was cut off looks like a smaller
 * change otherwise. Only a header without counts (`@@` alone) leaves it to the lines where the hunk ends: at the next
 * header or at the end of the diff.
 */
import { ADDED, CONTEXT, type DiffReader, invalidDiff, NO_NEWLINE, REMOVED, UNMARKED } from './diff-reader.ts';
import type { LineTable } from './line-table.ts';

/** Lines of the old and the new side; a side that the header leaves out is undefined. */
export interface HunkCounts {
  readonly old: number | undefined;
  readonly new: number | undefined;
}

/** What ends a hunk, apart from file headers; none of them can be a hunk line. */
const ENDS = ['@@', 'diff ', 'Index: ', 'index ', '```', 'Only in ', 'Binary files '];

/** Appends the lines to `table` and leaves the reader after them. Returns the counts of the lines it took. */
export function readHunkBody(reader: DiffReader, table: LineTable, stated: HunkCounts): HunkCounts {
  const { position, lineNumber } = reader;
  const first = table.length;
  if (readCounted(reader, table, stated)) return stated;
  reader.position = position;
  reader.lineNumber = lineNumber;
  table.truncate(first);
  while (!isHunkEnd(reader)) {
    if (reader.mark === UNMARKED) {
      throw invalidDiff(`Line of the diff has no mark: line ${reader.lineNumber}`, {
        line: reader.lineNumber,
        next: 'Begin every line of a hunk with a space, + or -',
      });
    }
    takeLine(reader, table, first);
  }
  dropTrailingBlanks(table, first);
  return countLines(table, first);
}

/** False when the lines are not as many as stated, or more lines of a hunk follow them. */
function readCounted(reader: DiffReader, table: LineTable, stated: HunkCounts): boolean {
  const first = table.length;
  let { old, new: added } = stated;
  if (old === undefined || added === undefined) return false;
  while (old > 0 || added > 0 || reader.mark === NO_NEWLINE) {
    const { mark } = reader;
    if (mark === UNMARKED) return false;
    if (mark === CONTEXT || mark === REMOVED) old -= 1;
    if (mark === CONTEXT || mark === ADDED) added -= 1;
    if (old < 0 || added < 0) return false;
    takeLine(reader, table, first);
  }
  return reader.isPastHunk;
}

function takeLine(reader: DiffReader, table: LineTable, first: number): void {
  const { mark, position, lineEnd, isBlank } = reader;
  if (mark !== NO_NEWLINE) table.push(mark, isBlank ? position : position + 1, lineEnd);
  else if (table.length > first) table.setEnd(table.length - 1, bareEnd(table));
  reader.skipLine();
}

/** The end of the last line without the line feed that the diff says is missing. */
function bareEnd(table: LineTable): number {
  const end = table.end(table.length - 1);
  return end > table.start(table.length - 1) && table.bytes[end - 1] === 10 ? end - 1 : end;
}

function isHunkEnd(reader: DiffReader): boolean {
  if (reader.atEnd || reader.atFileHeader || reader.atSignature) return true;
  return reader.mark === UNMARKED && ENDS.some((prefix) => reader.startsWith(prefix));
}

/** Empty lines at the end may be context or only space around the hunk; as context they would prove nothing. */
function dropTrailingBlanks(table: LineTable, first: number): void {
  let end = table.length;
  while (end > first && isUnmarkedBlank(table, end - 1)) end -= 1;
  table.truncate(end);
}

function countLines(table: LineTable, first: number): HunkCounts {
  let [old, added] = [0, 0];
  for (let index = first; index < table.length; index++) {
    if (table.mark(index) !== ADDED) old += 1;
    if (table.mark(index) !== REMOVED) added += 1;
  }
  return { old, new: added };
}

/** A line of the diff that was empty altogether: its range begins right after the line before. */
function isUnmarkedBlank(table: LineTable, index: number): boolean {
  return table.mark(index) === CONTEXT && table.bytes[table.start(index) - 1] === 10;
}
