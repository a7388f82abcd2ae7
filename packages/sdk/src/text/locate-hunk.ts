/**
 * The place of one hunk in the old text.
 *
 * The stated line comes first, moved by as much as the hunk before had to move. Elsewhere a place counts only when it is
 * the only one: nothing is guessed, and no line of context is given up. Lines that fit nowhere climb the ladder of
 * edit-ladder.ts. Throws E_FILE_IO otherwise.
 */
import { isUtf8 } from 'node:buffer';
import { ADDED, CONTEXT } from './diff-reader.ts';
import { findPlaces, type MatchLevel, type Place } from './edit-ladder.ts';
import {
  byContent,
  endsInCarriageReturn,
  endsInLineFeed,
  exactly,
  findLines,
  HunkSide,
  isAt,
  type LineComparison,
  tolerantly,
  type Wanted,
} from './find-lines.ts';
import type { TextLines } from './line-table.ts';
import {
  ambiguousHunk,
  hunkMismatch,
  hunkOutOfOrder,
  openEndedHunk,
  openHunk,
  tooFarOff,
  unplacedHunk,
} from './patch-errors.ts';
import { contentOf, indentOf } from './shift-indent.ts';
import type { FilePatch, Hunk } from './unified-diff.ts';

export interface Placement {
  readonly hunk: Hunk;
  /** Index of the first old line. */
  readonly index: number;
  /** How many lines of the old text the hunk covers. */
  readonly length: number;
  readonly match: MatchLevel;
  /** What the lines become, where more than line ends and empty lines differed. */
  readonly replacement?: Buffer;
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
  /** The text as characters, once a hunk needed it. */
  decoded: DecodedText | undefined;
}

/** Enough to say that it is not one place, and to name a few. */
const CANDIDATES = 4;
const ANCHORED_CANDIDATES = 1000;
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
  if (side.length > 0) requireDelimited(text, patch, hunk, { index: found.index, length: found.length ?? side.length });
  const offset = stated === undefined ? 0 : found.index - stated;
  return { hunk, length: side.length, ...found, offset, oldIsBare: side.isBare, newIsBare };
}

/**
 * A hunk with numbers shows what is on both sides of lines it adds, except at the ends of the file; `git apply` counts on it
 * too. One that shows only one side has lost a line, and would land exactly where that line is missing. Removed lines
 * delimit themselves.
 */
function requireDelimited(
  text: TextLines,
  { lines }: FilePatch,
  hunk: Hunk,
  { index, length }: { readonly index: number; readonly length: number },
): void {
  if (hunk.oldStart === undefined) return;
  const [first, last] = [hunk.firstRow, hunk.endRow - 1];
  if (lines.mark(first) === ADDED && index > 0) {
    let row = first;
    while (lines.mark(row) === ADDED) row += 1;
    if (lines.mark(row) === CONTEXT) throw openHunk(text, hunk, 'above', index - 1);
  }
  if (lines.mark(last) === ADDED && text.has(index + length)) {
    let row = last;
    while (lines.mark(row) === ADDED) row -= 1;
    if (lines.mark(row) === CONTEXT) throw openHunk(text, hunk, 'below', index + length);
  }
}

type Found = Pick<Placement, 'index' | 'match'> & Partial<Pick<Placement, 'length' | 'replacement'>>;

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
  if (hunk.isLast === true) near.push(text.count() - wanted.side.length);
  for (const index of near) {
    if (index < progress.from) continue;
    if (isAt(text, wanted, index, tolerantly)) return { index, match: matchAt(text, wanted, index) };
  }
  if (hunk.isOpenEnded && stated !== undefined) throw openEndedHunk(hunk);
  progress.searched += text.count();
  if (progress.searched > MAX_SEARCHED_LINES) throw tooFarOff(hunk);
  const found = onlyPlace(text, search, exactly) ?? onlyPlace(text, search, tolerantly);
  if (found !== undefined) return found;
  const before = findLines(text, wanted, tolerantly, { from: 0, limit: 1 })[0];
  if (before !== undefined) throw hunkOutOfOrder(hunk, before);
  const inexact = climb(text, search);
  if (inexact !== undefined) return inexact;
  throw hunkMismatch(text, { patch, hunk, side: wanted.side, around: (stated ?? 0) + progress.drift });
}

function onlyPlace(text: TextLines, { hunk, wanted, progress }: Search, lines: LineComparison): Found | undefined {
  const limit = hunk.anchor === undefined ? CANDIDATES : ANCHORED_CANDIDATES;
  const places = findLines(text, wanted, lines, { from: progress.from, limit });
  const [index, ...others] = places.length > 1 ? belowAnchor(text, hunk, places) : places;
  if (others.length > 0) throw ambiguousHunk(hunk, places.slice(0, CANDIDATES), { isCut: places.length >= CANDIDATES });
  return index === undefined ? undefined : { index, match: matchAt(text, wanted, index) };
}

/** Those in the block that the anchor heads, where the anchor is one line and they are fewer than all. */
function belowAnchor(text: TextLines, { anchor }: Hunk, places: readonly number[]): readonly number[] {
  if (anchor === undefined) return places;
  const heads: number[] = [];
  const lineAt = (index: number): string => text.bytes.toString('utf8', text.start(index), text.end(index));
  for (let index = 0; text.has(index); index++) if (contentOf(lineAt(index).trimEnd()) === anchor) heads.push(index);
  const [head, ...more] = heads;
  if (head === undefined || more.length > 0) return places;
  const depth = indentOf(lineAt(head)).length;
  let end = head + 1;
  while (text.has(end) && (lineAt(end).trim() === '' || indentOf(lineAt(end)).length > depth)) end++;
  const within = places.filter((place) => place >= head && place <= end);
  return within.length > 0 ? within : places;
}

/** For lines that are at least tolerantly the same. */
function matchAt(text: TextLines, wanted: Wanted, index: number): MatchLevel {
  if (isAt(text, wanted, index, exactly)) return 'exact';
  return isAt(text, wanted, index, byContent) ? 'line_ends' : 'trailing';
}

/** Placing one hunk by the ladder costs about as much as looking at every line so many times. */
const CLIMB_COST = 20;

function climb(text: TextLines, { patch, hunk, wanted, progress }: Search): Found | undefined {
  progress.searched += text.count() * CLIMB_COST;
  if (progress.searched > MAX_SEARCHED_LINES) throw tooFarOff(hunk);
  progress.decoded ??= decodeLines(text.bytes);
  const found = climbHunk(progress.decoded, {
    old: wanted.side,
    new: new HunkSide(patch.lines, hunk, 'new'),
    mustEndFile: wanted.mustEndFile,
    from: progress.from,
  });
  if (found === undefined) return undefined;
  const [only, ...others] = found;
  if (others.length > 0) {
    const lines = found.slice(0, CANDIDATES).map(({ index }) => index);
    throw ambiguousHunk(hunk, lines, { isCut: found.length > CANDIDATES });
  }
  return only;
}

/** Nothing to compare: only a header that says "after line n, none taken" in a text that has not moved can be believed. */
function placeInsertion(text: TextLines, search: Search): Found {
  const { hunk, stated, progress } = search;
  if (!text.has(0) && (stated ?? 0) <= 1) return { index: 0, match: 'exact' };
  if (stated === undefined || hunk.oldCount !== 0 || progress.drift !== 0) throw unplacedHunk(hunk);
  if (stated < progress.from || (stated > 0 && !text.has(stated - 1))) throw unplacedHunk(hunk);
  if (search.wanted.mustEndFile && text.has(stated)) throw unplacedHunk(hunk);
  return { index: stated, match: isForeignStyle(text, search, stated) ? 'line_ends' : 'exact' };
}

/** The added lines end otherwise than the line beside them, and the diff shows that it knows only one kind of line end. */
function isForeignStyle(text: TextLines, { patch, hunk }: Search, stated: number): boolean {
  const neighbor = Math.max(0, stated - 1);
  // Before the only line, which has no end, there is no style to keep; behind it the end of the file has one.
  if (!endsInLineFeed(text, neighbor)) return stated > 0 || hunk.isCarriaged;
  return endsInCarriageReturn(text, neighbor) ? !patch.hasCarriageReturn : hunk.isCarriaged;
}

interface DecodedText {
  /** Ends in a line end, whether the file does or not. */
  readonly text: string;
  readonly length: number;
  /** One byte a character where the file is not UTF-8, which is lossless for any bytes. */
  readonly encoding: 'utf8' | 'latin1';
  /** Where each line begins. */
  readonly starts: readonly number[];
}

/**
 * The lines of a hunk that fit the file only by a lenient level of edit-ladder.ts.
 *
 * A hunk is an edit of whole lines, so the ladder places it like any other: the lines that stay keep the bytes they have
 * in the file, and added lines get the file's indent and line ends.
 */
function decodeLines(bytes: Buffer): DecodedText {
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  const own = bytes.toString(encoding);
  const starts: number[] = [];
  for (let at = 0; at < own.length; at = own.indexOf('\n', at) + 1 || own.length) starts.push(at);
  const isBare = own !== '' && !own.endsWith('\n');
  return { text: isBare ? `${own}${own.includes('\r\n') ? '\r\n' : '\n'}` : own, length: own.length, encoding, starts };
}

interface HunkRun {
  readonly old: HunkSide;
  readonly new: HunkSide;
  readonly mustEndFile: boolean;
  /** The first line that may be used. */
  readonly from: number;
}

interface ClimbedPlace {
  /** Lines of the file from here on. */
  readonly index: number;
  readonly length: number;
  readonly match: MatchLevel;
  readonly replacement: Buffer;
}

/** The places of the first level that has any; undefined when none has. */
function climbHunk(file: DecodedText, run: HunkRun): readonly ClimbedPlace[] | undefined {
  const { text, encoding } = file;
  const wanted = { old: textOf(run.old, encoding), new: textOf(run.new, encoding) };
  if (wanted.old.trim() === '') return undefined;
  const hits = findPlaces(text, wanted, (place) => {
    if (place.end < text.length && (run.mustEndFile || text[place.end - 1] !== '\n')) return false;
    return lineAt(file, place) >= run.from;
  });
  return hits?.places.map((place) => {
    const index = lineAt(file, place);
    const begin = file.starts[index] ?? 0;
    const covered = text.slice(begin, place.end);
    const now = text.slice(begin, place.start) + place.text;
    const isPastEnd = place.end > file.length;
    return {
      index,
      length: covered.split('\n').length - 1,
      // Whole lines did not fit: the text does, apart from the byte order mark or the end of the last line.
      match: hits.match === 'exact' ? 'line_ends' : hits.match,
      replacement: Buffer.from(isPastEnd ? now.replace(/\r?\n$/, '') : now, encoding),
    };
  });
}

/** Every line with its end: a side that is said to lack the last one is held to the end of the file instead. */
function textOf(side: HunkSide, encoding: 'utf8' | 'latin1'): string {
  let text = '';
  for (let line = 0; line < side.length; line++) {
    text += side.bytes.toString(encoding, side.start(line), side.end(line)).replace(/\r?\n?$/, '\n');
  }
  return text;
}

/** Index of the line that the place begins with; -1 when it begins inside of one. */
function lineAt({ text, starts }: DecodedText, { start }: Place): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  const before = text.slice(starts[low - 1] ?? 0, start);
  // A byte order mark belongs to no line, and of a line of blanks only the end may be left.
  const isWhole =
    before === '' || before === '\ufeff' || (/^[ \t]*$/.test(before) && /^\r?\n/.test(text.slice(start, start + 2)));
  return isWhole ? low - 1 : -1;
}
