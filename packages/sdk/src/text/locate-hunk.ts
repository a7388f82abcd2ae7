/**
 * The place of one hunk in the old text.
 *
 * The stated line comes first, moved by as much as the hunk before had to move. Elsewhere a place counts only when it is
 * the only one: nothing is guessed, and no line of context is given up. Throws E_FILE_IO otherwise.
 */
import { findLines, HunkSide, isAt, type Wanted } from './find-lines.ts';
import type { TextLines } from './line-table.ts';
import { ambiguousHunk, hunkMismatch, hunkOutOfOrder, openEndedHunk, tooFarOff, unplacedHunk } from './patch-errors.ts';
import { endsInCarriageReturn, endsInLineFeed, exactly, type LineComparison, tolerantly } from './same-line.ts';
import type { FilePatch, Hunk } from './unified-diff.ts';

export interface Placement {
  readonly hunk: Hunk;
  /** Index of the first old line. */
  readonly index: number;
  /** How many lines of the old text the hunk covers. */
  readonly length: number;
  readonly isExact: boolean;
  /** Found line minus stated line; 0 when the header states none. */
  readonly offset: number;
  readonly oldIsBare: boolean;
  readonly newIsBare: boolean;
}

export interface Progress {
  /** The first line no hunk has used yet. */
  readonly from: number;
  /** The offset of the hunk before. */
  readonly drift: number;
  /** Lines looked at in searches so far, over all hunks. */
  searched: number;
}

/** Enough to say that it is not one place, and to name a few. */
const CANDIDATES = 4;
/** Some seconds at most: a long diff whose every hunk is elsewhere would otherwise read the text once for each. */
const MAX_SEARCHED_LINES = 20_000_000;

export function locateHunk(text: TextLines, patch: FilePatch, hunk: Hunk, progress: Progress): Placement {
  const side = new HunkSide(patch.lines, hunk, 'old');
  const newIsBare = new HunkSide(patch.lines, hunk, 'new').isBare;
  const stated = statedIndex(hunk, side);
  const search: Search = {
    patch,
    hunk,
    wanted: { side, mustEndFile: side.isBare || newIsBare },
    stated,
    progress,
  };
  const found = side.length === 0 ? placeInsertion(text, search) : placeLines(text, search);
  const offset = stated === undefined ? 0 : found.index - stated;
  return { hunk, ...found, length: side.length, offset, oldIsBare: side.isBare, newIsBare };
}

interface Found {
  readonly index: number;
  readonly isExact: boolean;
}

interface Search {
  readonly patch: FilePatch;
  readonly hunk: Hunk;
  readonly wanted: Wanted;
  readonly stated: number | undefined;
  readonly progress: Progress;
}

/** "After line n" when the hunk takes none, else "from line n". */
function statedIndex({ oldStart }: Hunk, side: HunkSide): number | undefined {
  return oldStart === undefined || side.length === 0 ? oldStart : Math.max(0, oldStart - 1);
}

function placeLines(text: TextLines, search: Search): Found {
  const { patch, hunk, wanted, stated, progress } = search;
  // A last line that may have been cut off fits where it is the whole line at the stated place, and elsewhere by chance.
  const near = stated === undefined ? [] : hunk.isOpenEnded ? [stated] : [stated + progress.drift, stated];
  for (const index of near) {
    if (index < progress.from) continue;
    if (isAt(text, wanted, index, exactly)) return { index, isExact: true };
    if (isAt(text, wanted, index, tolerantly)) return { index, isExact: false };
  }
  if (hunk.isOpenEnded && stated !== undefined) throw openEndedHunk(hunk);
  progress.searched += text.count();
  if (progress.searched > MAX_SEARCHED_LINES) throw tooFarOff(hunk);
  const found = onlyPlace(text, search, exactly) ?? onlyPlace(text, search, tolerantly);
  if (found !== undefined) return found;
  const before = findLines(text, wanted, tolerantly, { from: 0, limit: 1 })[0];
  if (before !== undefined) throw hunkOutOfOrder(hunk, before);
  throw hunkMismatch(text, { patch, hunk, side: wanted.side, around: (stated ?? 0) + progress.drift });
}

function onlyPlace(text: TextLines, { hunk, wanted, progress }: Search, lines: LineComparison): Found | undefined {
  const places = findLines(text, wanted, lines, { from: progress.from, limit: CANDIDATES });
  if (places.length > 1) throw ambiguousHunk(hunk, places, { isCut: places.length === CANDIDATES });
  const index = places[0];
  return index === undefined ? undefined : { index, isExact: lines === exactly };
}

/** Nothing to compare: only a header that says "after line n, none taken" in a text that has not moved can be believed. */
function placeInsertion(text: TextLines, search: Search): Found {
  const { hunk, stated, progress } = search;
  if (!text.has(0) && (stated ?? 0) <= 1) return { index: 0, isExact: true };
  if (stated === undefined || hunk.oldCount !== 0 || progress.drift !== 0) throw unplacedHunk(hunk);
  if (stated < progress.from || (stated > 0 && !text.has(stated - 1))) throw unplacedHunk(hunk);
  if (search.wanted.mustEndFile && text.has(stated)) throw unplacedHunk(hunk);
  return { index: stated, isExact: !isForeignStyle(text, search, stated) };
}

/** The added lines end otherwise than the line beside them, and the diff shows that it knows only one kind of line end. */
function isForeignStyle(text: TextLines, { patch, hunk }: Search, stated: number): boolean {
  const neighbor = Math.max(0, stated - 1);
  // Before the only line, which has no end, there is no style to keep; behind it the end of the file has one.
  if (!endsInLineFeed(text, neighbor)) return stated > 0 || hunk.isCarriaged;
  return endsInCarriageReturn(text, neighbor) ? !patch.hasCarriageReturn : hunk.isCarriaged;
}
