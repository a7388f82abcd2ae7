/**
 * A parsed file patch applied to the bytes of a file, all hunks or none.
 *
 * Every hunk is placed before the first byte is written. Bytes outside the changed lines are copied, never decoded:
 * encodings, byte order marks and line ends survive. Lines of context come from the file, not from the diff.
 */
import { ToolError } from '@tool-runtime/protocol';
import { ADDED, CONTEXT } from './diff-reader.ts';
import type { MatchLevel } from './edit-ladder.ts';
import { asBuffer } from './encoding.ts';
import { endsInCarriageReturn, endsInLineFeed, withoutLineEnd } from './find-lines.ts';
import { type LineTable, TextLines } from './line-table.ts';
import { locateHunk, type Placement, type Progress } from './locate-hunk.ts';
import type { FilePatch } from './unified-diff.ts';

export interface AppliedHunk {
  /** From 1. */
  readonly hunk: number;
  /** Line of the old file the hunk begins at, from 1; for an insertion the line it stands before. */
  readonly line: number;
  /** Found line minus stated line. */
  readonly offset: number;
  readonly added: number;
  readonly removed: number;
  /** How closely the lines of the diff fitted. A missing newline at the end of the file counts as `line_ends`. */
  readonly match: MatchLevel;
}

export interface PatchedFile {
  readonly bytes: Buffer;
  readonly hunks: readonly AppliedHunk[];
}

/** For a creation `bytes` is empty. Throws E_FILE_IO for the first hunk that fits nowhere or in several places. */
export function applyPatch(bytes: Uint8Array, patch: FilePatch): PatchedFile {
  const text = new TextLines(bytes);
  const placements = placeAll(text, patch);
  const result = placements.length === 0 ? asBuffer(bytes) : rewrite(text, patch.lines, placements);
  if (patch.isDeletion && result.length > 0) throw notWhole(result.length);
  return { bytes: result, hunks: placements.map(reported) };
}

function placeAll(text: TextLines, patch: FilePatch): readonly Placement[] {
  const placements: Placement[] = [];
  let progress: Progress = { from: 0, drift: 0, searched: 0, decoded: undefined };
  for (const hunk of patch.hunks) {
    const placement = locateHunk(text, patch, hunk, progress);
    placements.push(placement);
    const drift = hunk.oldStart === undefined ? progress.drift : placement.offset;
    progress = { ...progress, from: placement.index + placement.length, drift };
  }
  return placements;
}

function reported({ hunk, index, offset, match }: Placement): AppliedHunk {
  const { number, added, removed } = hunk;
  return { hunk: number, line: index + 1, offset, added, removed, match };
}

function rewrite(text: TextLines, table: LineTable, placements: readonly Placement[]): Buffer {
  const writer = new PatchWriter(text, table, placements);
  for (const placement of placements) {
    writer.copyUntil(placement.index);
    writer.writeHunk(placement);
  }
  return writer.finish();
}

function notWhole(bytes: number): ToolError {
  return new ToolError('E_FILE_IO', `File holds more than the diff deletes: ${bytes} bytes would be left`, {
    details: {
      reason: 'deletion_incomplete',
      next: 'Read the file again and delete all of its lines; nothing was changed',
    },
  });
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * Writes the new text: stretches of the old one, and the added lines between them.
 *
 * Where a hunk matched exactly its lines go in as the diff has them. Where it matched tolerantly the diff knows nothing
 * of the file's line ends, so added lines end as their neighbours do, and the end of the file keeps or lacks its newline
 * as before, unless the diff says that it changes just that.
 */
class PatchWriter {
  readonly #text: TextLines;
  readonly #table: LineTable;
  readonly #output: Buffer;
  #length = 0;
  /** The next line of the old text. */
  #line = 0;

  constructor(text: TextLines, table: LineTable, placements: readonly Placement[]) {
    this.#text = text;
    this.#table = table;
    this.#output = Buffer.allocUnsafe(text.bytes.length + roomForAdded(table, placements));
  }

  copyUntil(line: number): void {
    if (line <= this.#line) return;
    this.#copy(this.#text.bytes, this.#text.start(this.#line), this.#text.start(line));
    this.#line = line;
  }

  writeHunk(placement: Placement): void {
    const { hunk, length, replacement } = placement;
    if (replacement !== undefined) {
      this.#copy(replacement, 0, replacement.length);
      this.#line += length;
      return;
    }
    const isExact = placement.match === 'exact';
    let isLastAdded = false;
    for (let row = hunk.firstRow; row < hunk.endRow; row++) {
      const mark = this.#table.mark(row);
      if (mark === ADDED) this.#add(row, isExact ? 'as written' : 'as neighbours');
      else if (mark === CONTEXT) this.copyUntil(this.#line + 1);
      else this.#line += 1;
      isLastAdded = mark === ADDED || (isLastAdded && mark !== CONTEXT);
    }
    if (!isExact && isLastAdded && !this.#text.has(this.#line)) this.#settleEnd(placement);
  }

  finish(): Buffer {
    this.#copy(this.#text.bytes, this.#text.start(this.#line), this.#text.bytes.length);
    return this.#output.subarray(0, this.#length);
  }

  #add(row: number, ends: 'as written' | 'as neighbours'): void {
    const table = this.#table;
    // Only the last line of a file has no end; what is added behind it must not be joined to it.
    if (this.#length > 0 && !this.#isEnded()) this.#endLine();
    const isWritten = ends === 'as written';
    this.#copy(table.bytes, table.start(row), isWritten ? table.end(row) : withoutLineEnd(table, row));
    if (!isWritten && endsInLineFeed(table, row)) this.#endLine();
  }

  #settleEnd({ oldIsBare, newIsBare }: Placement): void {
    const { bytes } = this.#text;
    const wasBare = bytes.length > 0 && bytes[bytes.length - 1] !== LINE_FEED;
    const isBare = oldIsBare === newIsBare ? wasBare : newIsBare;
    if (!isBare && !this.#isEnded()) this.#endLine();
    if (!isBare || !this.#isEnded()) return;
    this.#length -= 1;
    if (this.#endsInCarriageReturn() && this.#neighboursDo()) this.#length -= 1;
  }

  #endLine(): void {
    if (this.#neighboursDo()) this.#output[this.#length++] = CARRIAGE_RETURN;
    this.#output[this.#length++] = LINE_FEED;
  }

  /** Whether the line above in the old text ends in CRLF; the one below where there is none, or it is the bare last one. */
  #neighboursDo(): boolean {
    const above = this.#line - 1;
    const text = this.#text;
    if (above >= 0 && endsInLineFeed(text, above)) return endsInCarriageReturn(text, above);
    return endsInCarriageReturn(text, above > 0 ? above - 1 : this.#line);
  }

  #isEnded(): boolean {
    return this.#output[this.#length - 1] === LINE_FEED;
  }

  #endsInCarriageReturn(): boolean {
    return this.#length > 0 && this.#output[this.#length - 1] === CARRIAGE_RETURN;
  }

  #copy(source: Buffer, start: number, end: number): void {
    source.copy(this.#output, this.#length, start, end);
    this.#length += end - start;
  }
}

/** Each added line may get one carriage return and one line feed of its own, and the line before it too. */
function roomForAdded(table: LineTable, placements: readonly Placement[]): number {
  let room = 0;
  for (const { hunk, replacement } of placements) {
    room += replacement?.length ?? 0;
    for (let row = hunk.firstRow; row < hunk.endRow; row++) {
      if (table.mark(row) === ADDED) room += table.end(row) - table.start(row) + 4;
    }
  }
  return room;
}
