/**
 * Ripgrep's NUL-separated text output, byte by byte as it comes: `path NUL line : column : text`, and `-` instead of
 * the colons for a line of context. Names may hold newlines, so only the NUL ends a path.
 *
 * Ripgrep writes the lines of one file in one go, so a change of path ends a file.
 */
import { isUtf8 } from 'node:buffer';
import { ToolError } from '@tool-runtime/protocol';
import { type LineView, PartialLine, viewLine } from './line-view.ts';

export interface FoundLine extends LineView {
  readonly number: number;
  /** From 1; zero for a line of context. */
  readonly byteColumn: number;
}

/** Lines of one file, all of them or, for a file with very many, the next ones. */
export interface FoundFile {
  readonly path: string;
  readonly lines: FoundLine[];
  /** Lines that are no context. */
  matchCount: number;
}

export interface OutputReader {
  /** Asked once for each file; the lines of unwanted files are skipped. */
  wants(path: string): boolean;
  /** A file with more lines comes in batches of so many. */
  readonly batchLines: number;
  /** Characters kept of a line. */
  readonly maxLength: number;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const DOT = 0x2e;
const SLASH = 0x2f;
const MAX_HEADER_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);
/** What ripgrep says, without any NUL, when it meets binary data behind a match. The file is dropped then. */
const BINARY_WARNING = Buffer.from(': WARNING: stopped searching binary file after match');

interface Header {
  number: number;
  byteColumn: number;
  textAt: number;
}

export class SearchOutput {
  readonly #reader: OutputReader;
  #rest: Buffer = NO_BYTES;
  #pathBytes: Buffer = NO_BYTES;
  #file: FoundFile | undefined;
  #isWanted = false;
  #partial: { readonly number: number; readonly byteColumn: number; readonly line: PartialLine } | undefined;
  /** Filled anew for every record. */
  readonly #header: Header = { number: 0, byteColumn: 0, textAt: 0 };

  constructor(reader: OutputReader) {
    this.#reader = reader;
  }

  /** The file whose lines are coming in. */
  get current(): FoundFile | undefined {
    return this.#file;
  }

  /** Answers the files that are complete now. */
  write(chunk: Buffer): readonly FoundFile[] {
    const finished: FoundFile[] = [];
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = NO_BYTES;
    let at = this.#partial === undefined ? 0 : this.#continueLine(data);
    while (at < data.length) {
      const next = this.#readRecord(data, at, finished);
      if (next < 0) {
        this.#keepRest(data.subarray(at));
        break;
      }
      at = next;
    }
    return finished;
  }

  /** The file that was still open. */
  end(): readonly FoundFile[] {
    const finished: FoundFile[] = [];
    this.#finish(finished);
    return finished;
  }

  /** Answers where the next record begins, or a negative number when this one is not complete. */
  #readRecord(data: Buffer, at: number, finished: FoundFile[]): number {
    const nul = data.indexOf(0, at);
    const warned = this.#skipWarning(data, at, nul);
    if (warned !== undefined) return warned;
    const header = this.#header;
    if (nul < 0 || !readHeader(data, nul + 1, header)) return -1;
    if (!this.#isSameFile(data, at, nul)) this.#enterFile(data.subarray(at, nul), finished);
    const newline = data.indexOf(NEWLINE, header.textAt);
    if (newline < 0) {
      const { number, byteColumn } = header;
      const line = new PartialLine({ byteColumn, maxLength: this.#reader.maxLength });
      line.add(data.subarray(header.textAt));
      this.#partial = { number, byteColumn, line };
      return data.length;
    }
    if (this.#isWanted) {
      this.#push(this.#readLine(data, newline));
      if ((this.#file?.lines.length ?? 0) >= this.#reader.batchLines) this.#nextBatch(finished);
    }
    return newline + 1;
  }

  /** Short lines of plain ASCII, nearly all there are, take the short way. */
  #readLine(data: Buffer, newline: number): FoundLine {
    const { number, textAt } = this.#header;
    const { maxLength } = this.#reader;
    const end = newline > textAt && data[newline - 1] === CARRIAGE_RETURN ? newline - 1 : newline;
    // Ripgrep gives the later lines of a match over several lines the column of its first.
    const byteColumn = this.#header.byteColumn > newline - textAt + 1 ? 1 : this.#header.byteColumn;
    if (end - textAt <= maxLength) {
      const text = data.toString('utf8', textAt, end);
      if (text.length === end - textAt) return { number, byteColumn, text, column: byteColumn, cut: false };
    }
    const { text, column, cut } = viewLine(data.subarray(textAt, newline), { byteColumn, maxLength });
    return { number, byteColumn, text, column, cut };
  }

  #continueLine(data: Buffer): number {
    const newline = data.indexOf(NEWLINE);
    const partial = this.#partial;
    partial?.line.add(newline < 0 ? data : data.subarray(0, newline));
    if (newline < 0) return data.length;
    if (partial !== undefined && this.#isWanted) {
      const { text, column, cut } = partial.line.view();
      this.#push({ number: partial.number, byteColumn: partial.byteColumn, text, column, cut });
    }
    this.#partial = undefined;
    return newline + 1;
  }

  #push(line: FoundLine): void {
    if (this.#file === undefined) return;
    this.#file.lines.push(line);
    if (line.byteColumn > 0) this.#file.matchCount += 1;
  }

  #isSameFile(data: Buffer, at: number, nul: number): boolean {
    const known = this.#pathBytes;
    return this.#file !== undefined && nul - at === known.length && data.compare(known, 0, known.length, at, nul) === 0;
  }

  #enterFile(path: Buffer, finished: FoundFile[]): void {
    this.#finish(finished);
    this.#pathBytes = path;
    const name = path.toString('utf8', path[0] === DOT && path[1] === SLASH ? 2 : 0);
    const isMangled = name.includes('\ufffd') && !isUtf8(path);
    this.#isWanted = !isMangled && this.#reader.wants(name);
    this.#file = { path: name, lines: [], matchCount: 0 };
  }

  #finish(finished: FoundFile[]): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined && file.lines.length > 0) finished.push(file);
  }

  #nextBatch(finished: FoundFile[]): void {
    const { path } = this.#file ?? { path: '' };
    this.#finish(finished);
    this.#file = { path, lines: [], matchCount: 0 };
  }

  /** Undefined when no warning begins here, negative when that cannot be told yet. */
  #skipWarning(data: Buffer, at: number, nul: number): number | undefined {
    const start = this.#pathBytes.length;
    if (this.#file === undefined || (nul >= 0 && nul - at <= start)) return undefined;
    const end = at + start + BINARY_WARNING.length;
    if (data.length < end) return nul < 0 ? -1 : undefined;
    if (!data.subarray(at, at + start).equals(this.#pathBytes)) return undefined;
    if (!data.subarray(at + start, end).equals(BINARY_WARNING)) return undefined;
    const newline = data.indexOf(NEWLINE, end);
    if (newline < 0) return -1;
    this.#file.lines.length = 0;
    this.#file.matchCount = 0;
    return newline + 1;
  }

  #keepRest(rest: Buffer): void {
    if (rest.length > MAX_HEADER_BYTES) {
      throw new ToolError('E_INTERNAL', 'Search program gave output that cannot be read');
    }
    this.#rest = Buffer.from(rest);
  }
}

/** False when the header is not complete. */
function readHeader(data: Buffer, start: number, header: Header): boolean {
  const lineEnd = digitsEnd(data, start);
  if (lineEnd >= data.length) return false;
  header.number = readNumber(data, start, lineEnd);
  header.byteColumn = 0;
  header.textAt = lineEnd + 1;
  if (data[lineEnd] !== COLON) return true;
  const columnEnd = digitsEnd(data, header.textAt);
  if (columnEnd >= data.length) return false;
  // A match of nothing at the end of a file comes without a column.
  header.byteColumn = 1;
  if (columnEnd === header.textAt || data[columnEnd] !== COLON) return true;
  header.byteColumn = readNumber(data, header.textAt, columnEnd);
  header.textAt = columnEnd + 1;
  return true;
}

function digitsEnd(data: Buffer, start: number): number {
  let end = start;
  for (let byte = data[end] ?? 0; byte >= 0x30 && byte <= 0x39; byte = data[end] ?? 0) end += 1;
  return end;
}

function readNumber(data: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (data[at] ?? 0) - 0x30;
  return value;
}
