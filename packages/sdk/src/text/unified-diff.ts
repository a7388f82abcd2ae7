/**
 * Unified diffs as git, `diff -u` and models write them.
 *
 * Prose, mail headers and code fences around a diff are passed over; inside it nothing is: a line with a mark that
 * belongs to no hunk is refused, because leaving it out would change what the diff says. One pass, bounded input.
 */
import { invalidDiff } from './diff-errors.ts';
import { gitNames, headerName } from './diff-names.ts';
import { ADDED, DiffReader, REMOVED } from './diff-reader.ts';
import { isAround, mergeDiff, readExtendedHeader, refuseForeign } from './diff-surroundings.ts';
import { type HunkCounts, readHunkBody } from './hunk-body.ts';
import { asBuffer, LineTable } from './line-table.ts';

export const MAX_DIFF_BYTES = 16 * 1024 * 1024;

export interface Hunk {
  /** Within its file, from 1. */
  readonly number: number;
  /** The line of the old file the header names; undefined when it names none. */
  readonly oldStart: number | undefined;
  /** As the header says, which need not be true. */
  readonly oldCount: number | undefined;
  /** Rows of the file patch's `lines`. */
  readonly firstRow: number;
  readonly endRow: number;
  readonly added: number;
  readonly removed: number;
  /** The header line ends in a carriage return: so does every line, whatever the file does. */
  readonly isCarriaged: boolean;
}

export interface FilePatch {
  /** As written, `a/` included; undefined for `/dev/null` and when the diff names no file. */
  readonly oldName: string | undefined;
  readonly newName: string | undefined;
  readonly isCreation: boolean;
  readonly isDeletion: boolean;
  /** Permission bits the new file is to have. */
  readonly newMode: number | undefined;
  readonly hunks: readonly Hunk[];
  /** The marked lines of all hunks of the diff. */
  readonly lines: LineTable;
  /** Anywhere in the diff. */
  readonly hasCarriageReturn: boolean;
}

export interface UnifiedDiff {
  readonly files: readonly FilePatch[];
}

interface Draft {
  oldName: string | undefined;
  newName: string | undefined;
  isCreation: boolean;
  isDeletion: boolean;
  newMode: number | undefined;
  readonly hunks: Hunk[];
  readonly lines: LineTable;
  readonly hasCarriageReturn: boolean;
}

/** Throws E_VALIDATION_FAIL for what is no unified diff, too long, binary, a rename or the diff of a merge. */
export function parseUnifiedDiff(input: Uint8Array): UnifiedDiff {
  if (input.length > MAX_DIFF_BYTES) {
    throw invalidDiff(`Diff is longer than ${MAX_DIFF_BYTES} bytes: ${input.length}`, {
      limit_bytes: MAX_DIFF_BYTES,
      next: 'Split the diff, or write the whole file',
    });
  }
  const parser = new Parser(terminated(asBuffer(input)));
  parser.run();
  return { files: parser.files };
}

/** The last line feed is easily lost; the reader wants one. */
function terminated(bytes: Buffer): Buffer {
  return bytes.length === 0 || bytes[bytes.length - 1] === 10 ? bytes : Buffer.concat([bytes, Buffer.from('\n')]);
}

const HUNK_HEADER = /^@@\s*-(\d{1,10})(?:\s*,\s*(\d{1,10}))?(?:\s+\+(\d{1,10})(?:\s*,\s*(\d{1,10}))?)?/;

class Parser {
  readonly files: Draft[] = [];
  readonly #reader: DiffReader;
  readonly #lines: LineTable;
  readonly #hasCarriageReturn: boolean;
  /** The file whose header or hunks come now; undefined in the text around. */
  #draft: Draft | undefined;

  constructor(bytes: Buffer) {
    this.#reader = new DiffReader(bytes);
    this.#lines = new LineTable(bytes);
    this.#hasCarriageReturn = bytes.includes(13);
  }

  run(): void {
    const reader = this.#reader;
    while (!reader.atEnd) {
      if (reader.startsWith('@@')) this.#readHunk();
      else if (reader.atFileHeader) this.#readFileHeader();
      else this.#readOther();
    }
    if (this.files.length === 0 && /\S/.test(reader.bytes.toString('latin1'))) {
      throw invalidDiff('No hunk found in the diff', {
        next: 'Write a unified diff: --- and +++ lines, then hunks that begin with @@ -line,count +line,count @@',
      });
    }
  }

  #readOther(): void {
    const reader = this.#reader;
    if (reader.startsWith('diff --git ')) this.#startGitFile();
    else if (isAround(reader)) this.#draft = undefined;
    else if (this.#draft !== undefined && (reader.mark === ADDED || reader.mark === REMOVED)) throw strayLine(reader);
    else {
      refuseForeign(reader);
      if (this.#draft !== undefined && this.#draft.hunks.length === 0) readExtendedHeader(this.#draft, reader.text());
    }
    reader.skipLine();
  }

  #startFile(): Draft {
    const draft: Draft = {
      oldName: undefined,
      newName: undefined,
      isCreation: false,
      isDeletion: false,
      newMode: undefined,
      hunks: [],
      lines: this.#lines,
      hasCarriageReturn: this.#hasCarriageReturn,
    };
    this.files.push(draft);
    this.#draft = draft;
    return draft;
  }

  #startGitFile(): void {
    const names = gitNames(this.#reader.text().slice('diff --git '.length));
    Object.assign(this.#startFile(), names ?? {});
  }

  #readFileHeader(): void {
    const reader = this.#reader;
    const current = this.#draft;
    const draft = current === undefined || current.hunks.length > 0 ? this.#startFile() : current;
    if (reader.startsWith('--- ')) {
      const name = headerName(reader.text().slice(4));
      draft.oldName = name ?? undefined;
      draft.isCreation ||= name === null;
      reader.skipLine();
    }
    if (reader.startsWith('+++ ')) {
      const name = headerName(reader.text().slice(4));
      draft.newName = name ?? undefined;
      draft.isDeletion ||= name === null;
      reader.skipLine();
    }
  }

  #readHunk(): void {
    const reader = this.#reader;
    if (reader.startsWith('@@@')) throw mergeDiff(reader);
    const draft = this.#draft ?? this.#startFile();
    const header = reader.text();
    const isCarriaged = reader.bytes[reader.lineEnd - 2] === 13;
    const [, oldStart, oldCount = '1', newStart, newCount = '1'] = HUNK_HEADER.exec(header) ?? [];
    const counts: HunkCounts | undefined =
      oldStart === undefined || newStart === undefined ? undefined : { old: Number(oldCount), new: Number(newCount) };
    const firstRow = this.#lines.length;
    const lineNumber = reader.lineNumber;
    reader.skipLine();
    readHunkBody(reader, this.#lines, counts);
    if (this.#lines.length === firstRow) {
      throw invalidDiff(`Hunk has no lines: line ${lineNumber}`, {
        line: lineNumber,
        next: 'Give every hunk its lines',
      });
    }
    draft.hunks.push({
      number: draft.hunks.length + 1,
      oldStart: oldStart === undefined ? undefined : Number(oldStart),
      oldCount: oldStart === undefined ? undefined : Number(oldCount),
      firstRow,
      endRow: this.#lines.length,
      ...this.#countRows(firstRow),
      isCarriaged,
    });
  }

  #countRows(firstRow: number): Pick<Hunk, 'added' | 'removed'> {
    let [added, removed] = [0, 0];
    for (let row = firstRow; row < this.#lines.length; row++) {
      if (this.#lines.mark(row) === ADDED) added += 1;
      if (this.#lines.mark(row) === REMOVED) removed += 1;
    }
    return { added, removed };
  }
}

function strayLine(reader: DiffReader): Error {
  return invalidDiff(`Line of the diff belongs to no hunk: line ${reader.lineNumber}`, {
    line: reader.lineNumber,
    next: 'Put a header @@ -line,count +line,count @@ above the lines of each hunk',
  });
}
