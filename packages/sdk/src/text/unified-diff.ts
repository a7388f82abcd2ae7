/**
 * Unified diffs as git, `diff -u` and models write them.
 *
 * Prose, mail headers and code fences around a diff are passed over; inside it nothing is: a line with a mark that
 * belongs to no hunk is refused, because leaving it out would change what the diff says. One pass, bounded input.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import { gitNames, headerName, isAround, mergeDiff, readExtendedHeader, refuseForeign } from './diff-names.ts';
import { ADDED, DiffReader, type HunkCounts, invalidDiff, REMOVED, readHunkBody } from './diff-reader.ts';
import { asBuffer } from './encoding.ts';
import { LineTable } from './line-table.ts';

export const MAX_DIFF_BYTES = 16 * 1024 * 1024;

export interface Hunk {
  /** Within its file, from 1. */
  readonly number: number;
  /** The line of the old file the header names; undefined when it names none. */
  readonly oldStart: number | undefined;
  /** As the header says. */
  readonly oldCount: number | undefined;
  /** Rows of the file patch's `lines`. */
  readonly firstRow: number;
  readonly endRow: number;
  readonly added: number;
  readonly removed: number;
  /** The header line ends in a carriage return: so does every line, whatever the file does. */
  readonly isCarriaged: boolean;
  /** The diff ends in the last line of this hunk, without a line feed: the line may have been longer. */
  readonly isOpenEnded: boolean;
  /** A line of the file above the hunk, such as the function that holds it. It decides where several places fit. */
  readonly anchor?: string;
  /** Said to be the end of the file; where it is not, the hunk may fit elsewhere. */
  readonly isLast?: true;
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
  const bytes = asBuffer(input);
  const isTerminated = bytes.length === 0 || bytes[bytes.length - 1] === 10;
  const parser = new Parser(isTerminated ? bytes : Buffer.concat([bytes, Buffer.from('\n')]), { isTerminated });
  parser.run();
  return { files: parser.files };
}

/** Lines of a hunk, a remark or a hunk header that were cut off or are where no hunk is. */
const STRAY_MARKS = ['+', '-', '\\', '@'];
const HUNK_HEADER = /^@@\s*-(\d{1,10})(?:\s*,\s*(\d{1,10}))?(?:\s+\+(\d{1,10})(?:\s*,\s*(\d{1,10}))?)?/;

class Parser {
  readonly files: Draft[] = [];
  readonly #reader: DiffReader;
  readonly #lines: LineTable;
  readonly #hasCarriageReturn: boolean;
  readonly #isTerminated: boolean;
  /** The file whose header or hunks come now; undefined in the text around. */
  #draft: Draft | undefined;

  /** `isTerminated`: the last line feed was in the diff; the reader wants one in any case. */
  constructor(bytes: Buffer, { isTerminated }: { readonly isTerminated: boolean }) {
    this.#isTerminated = isTerminated;
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
    else if (this.#draft !== undefined && STRAY_MARKS.some((mark) => reader.startsWith(mark))) throw strayLine(reader);
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
    const stated: HunkCounts = {
      old: oldStart === undefined ? undefined : Number(oldCount),
      new: newStart === undefined ? undefined : Number(newCount),
    };
    const firstRow = this.#lines.length;
    const lineNumber = reader.lineNumber;
    const number = draft.hunks.length + 1;
    reader.skipLine();
    const found = readHunkBody(reader, this.#lines, stated);
    if (this.#lines.length === firstRow) {
      throw invalidDiff(`Hunk has no lines: line ${lineNumber}`, {
        line: lineNumber,
        next: 'Give every hunk its lines',
      });
    }
    if (!isAsStated(stated.old, found.old) || !isAsStated(stated.new, found.new)) {
      throw wrongCounts({ hunk: number, line: lineNumber, stated, found });
    }
    draft.hunks.push({
      number,
      oldStart: oldStart === undefined ? undefined : Number(oldStart),
      oldCount: stated.old,
      firstRow,
      endRow: this.#lines.length,
      ...this.#countRows(firstRow),
      isCarriaged,
      isOpenEnded: this.#isOpenEnded(number),
    });
  }

  /** Throws where the open end is an added line: of that nothing tells whether it is whole. */
  #isOpenEnded(hunk: number): boolean {
    const last = this.#lines.length - 1;
    if (this.#isTerminated || this.#lines.end(last) < this.#reader.bytes.length) return false;
    if (this.#lines.mark(last) === ADDED) throw cutLine(hunk, this.#reader.lineNumber - 1);
    return true;
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

function isAsStated(stated: number | undefined, found: number | undefined): boolean {
  return stated === undefined || stated === found;
}

interface WrongCounts {
  readonly hunk: number;
  readonly line: number;
  readonly stated: HunkCounts;
  readonly found: HunkCounts;
}

function wrongCounts({ hunk, line, stated, found }: WrongCounts): Error {
  const sides = ({ old, new: added }: HunkCounts): string => `${old ?? 'any'} old and ${added ?? 'any'} new lines`;
  return invalidDiff(`Hunk ${hunk} has ${sides(found)}, but its header says ${sides(stated)}: line ${line}`, {
    reason: 'hunk_counts',
    hunk,
    line,
    stated: counted(stated),
    found: counted(found),
    next:
      `If the diff was cut off, send all of it. If it is complete, correct the counts (-line,${found.old} ` +
      `+line,${found.new}), or write @@ without numbers to have the hunk found by its lines; nothing was changed`,
  });
}

function counted({ old, new: added }: HunkCounts): JsonObject {
  return { old_lines: old ?? null, new_lines: added ?? null };
}

function cutLine(hunk: number, line: number): Error {
  return invalidDiff(`Diff ends in the middle of an added line of hunk ${hunk}: line ${line}`, {
    reason: 'diff_cut',
    hunk,
    line,
    next: 'If the line is complete, end the diff with a line feed; else send all of it; nothing was changed',
  });
}

function strayLine(reader: DiffReader): Error {
  return invalidDiff(`Line of the diff belongs to no hunk: line ${reader.lineNumber}`, {
    line: reader.lineNumber,
    next: 'Put a header @@ -line,count +line,count @@ above the lines of each hunk',
  });
}
