/**
 * A parsed file patch applied to the bytes of a file, all hunks or none.
 *
 * Every hunk is placed before the first byte is written. Bytes outside the changed lines are copied, never decoded:
 * encodings, byte order marks and line ends survive. Lines of context come from the file, not from the diff.
 */
import { ToolError } from '@tool-runtime/protocol';
import { asBuffer, type LineTable, TextLines } from './line-table.ts';
import { locateHunk, type Placement, type Progress } from './locate-hunk.ts';
import { PatchWriter } from './patch-writer.ts';
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
  /** Tolerant: line ends, blanks of empty lines or the newline at the end of the file differed from the diff. */
  readonly match: 'exact' | 'tolerant';
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
  let progress: Progress = { from: 0, drift: 0, searched: 0 };
  for (const hunk of patch.hunks) {
    const placement = locateHunk(text, patch, hunk, progress);
    placements.push(placement);
    const drift = hunk.oldStart === undefined ? progress.drift : placement.offset;
    progress = { from: placement.index + placement.length, drift, searched: progress.searched };
  }
  return placements;
}

function reported({ hunk, index, offset, isExact }: Placement): AppliedHunk {
  const { number, added, removed } = hunk;
  return { hunk: number, line: index + 1, offset, added, removed, match: isExact ? 'exact' : 'tolerant' };
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
