/** A diff as its lines, one after the other, with a look at the next two. What a line means is decided by its first bytes. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { LineTable } from './line-table.ts';

/** The marks of hunk lines, and what replaces them. */
export const CONTEXT = 32;
export const ADDED = 43;
export const REMOVED = 45;
/** "\ No newline at end of file" */
export const NO_NEWLINE = 92;
/** Neither of them, or the end of the diff. */
export const UNMARKED = -1;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** Nothing in a header is longer; the rest of such a line is not looked at. */
const HEADER_BYTES = 8192;

export class DiffReader {
  readonly bytes: Buffer;
  position = 0;
  /** Of the current line, from 1. */
  lineNumber = 1;

  /** `bytes` ends in a line feed. */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get atEnd(): boolean {
    return this.position >= this.bytes.length;
  }

  /** Behind the line feed of the current line. */
  get lineEnd(): number {
    return this.#lineEnd(this.position);
  }

  skipLine(): void {
    this.position = this.lineEnd;
    this.lineNumber += 1;
  }

  startsWith(prefix: string): boolean {
    return this.#startsWith(prefix, this.position);
  }

  /** The current line without its end, one byte a character. */
  text(): string {
    const end = Math.min(this.lineEnd, this.position + HEADER_BYTES);
    return this.bytes.toString('latin1', this.position, end).replace(/\r?\n$/, '');
  }

  get isBlank(): boolean {
    return this.#isBlank(this.position);
  }

  /** An empty line counts as context: its single space is easily lost. */
  get mark(): number {
    if (this.atEnd) return UNMARKED;
    const byte = this.bytes[this.position];
    if (byte === CONTEXT || byte === ADDED || byte === REMOVED) return byte;
    if (byte === NO_NEWLINE) return this.bytes[this.position + 1] === CONTEXT ? NO_NEWLINE : UNMARKED;
    return this.isBlank ? CONTEXT : UNMARKED;
  }

  /** One or two file header lines above a hunk. Without the hunk they may be a removed and an added line. */
  get atFileHeader(): boolean {
    const isOld = this.startsWith('--- ');
    if (!isOld && !this.startsWith('+++ ')) return false;
    const next = this.lineEnd;
    return this.#startsWith(
      '@@',
      this.#skipBlank(isOld && this.#startsWith('+++ ', next) ? this.#lineEnd(next) : next),
    );
  }

  /** The lines `git format-patch` ends a mail with: two dashes and a version. */
  get atSignature(): boolean {
    if (!this.startsWith('--')) return false;
    if (!/^-- ?$/.test(this.text())) return false;
    const version = this.bytes.toString('latin1', this.lineEnd, this.lineEnd + 16);
    return /^\d+\.\d/.test(version);
  }

  /** True when the next line that is not empty belongs to no hunk. */
  get isPastHunk(): boolean {
    const next = new DiffReader(this.bytes);
    next.position = this.#skipBlank(this.position);
    return next.mark === UNMARKED || next.atFileHeader || next.atSignature;
  }

  #skipBlank(start: number): number {
    let at = start;
    while (this.#isBlank(at)) at = this.#lineEnd(at);
    return at;
  }

  #lineEnd(start: number): number {
    const feed = this.bytes.indexOf(LINE_FEED, start);
    return feed === -1 ? this.bytes.length : feed + 1;
  }

  #startsWith(prefix: string, at: number): boolean {
    for (let index = 0; index < prefix.length; index++) {
      if (this.bytes[at + index] !== prefix.charCodeAt(index)) return false;
    }
    return true;
  }

  #isBlank(at: number): boolean {
    const byte = this.bytes[at];
    return byte === LINE_FEED || (byte === CARRIAGE_RETURN && this.bytes[at + 1] === LINE_FEED);
  }
}

/** A diff that cannot be parsed or is not supported. patch-errors.ts has the errors for one that does not fit the file. */
export function invalidDiff(message: string, details: JsonObject): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { path: 'unified_diff', details: { reason: 'diff', ...details } });
}

/** Lines of the old and the new side; a side that the header leaves out is undefined. */
export interface HunkCounts {
  readonly old: number | undefined;
  readonly new: number | undefined;
}

/** What ends a hunk, apart from file headers; none of them can be a hunk line. */
const ENDS = ['@@', 'diff ', 'Index: ', 'index ', '```', 'Only in ', 'Binary files '];

/**
 * The lines below one hunk header.
 *
 * The header says how many lines follow, and exactly so many must follow: a hunk that was cut off looks like a smaller
 * change otherwise. Only a header without counts (`@@` alone) leaves it to the lines where the hunk ends: at the next
 * header or at the end of the diff.
 *
 * Appends the lines to `table` and leaves the reader after them. Returns the counts of the lines it took.
 */
export function readHunkBody(reader: DiffReader, table: LineTable, stated: HunkCounts): HunkCounts {
  const { position, lineNumber } = reader;
  const first = table.length;
  const again = () => {
    reader.position = position;
    reader.lineNumber = lineNumber;
    table.truncate(first);
  };
  if (readCounted(reader, table, stated)) return stated;
  again();
  const unmarked = readMarked(reader, table);
  if (unmarked !== undefined) {
    again();
    readWithoutMarks(reader, table);
  }
  dropTrailingBlanks(table, first);
  const counts = countLines(table, first);
  if (unmarked !== undefined && !isCountedAs(stated, counts)) {
    throw invalidDiff(`Line of the diff has no mark: line ${unmarked}`, {
      line: unmarked,
      next: 'Begin every line of a hunk with a space, + or -',
    });
  }
  return counts;
}

/** The number of the first line without a mark, where it stops; undefined when all have one. */
function readMarked(reader: DiffReader, table: LineTable): number | undefined {
  const first = table.length;
  while (!isHunkEnd(reader)) {
    if (reader.mark === UNMARKED) return reader.lineNumber;
    takeLine(reader, table, first);
  }
  return undefined;
}

/** Where one line of context lost its blank, all did: lines that are neither added nor removed are taken as they are. */
function readWithoutMarks(reader: DiffReader, table: LineTable): void {
  const first = table.length;
  while (!isHunkEnd(reader)) {
    const { mark, position, lineEnd } = reader;
    if (mark === CONTEXT || mark === UNMARKED) {
      table.push(CONTEXT, position, lineEnd);
      reader.skipLine();
    } else takeLine(reader, table, first);
  }
}

/** A line that lost another mark than a blank shows in the counts. Without them nothing would show it. */
function isCountedAs(stated: HunkCounts, { old, new: added }: HunkCounts): boolean {
  return stated.old === old && stated.new === added;
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
  const start = table.start(index);
  const isBlank = /^\r?\n?$/.test(table.bytes.toString('latin1', start, Math.min(table.end(index), start + 3)));
  return table.mark(index) === CONTEXT && isBlank && table.bytes[start - 1] === LINE_FEED;
}
