/** Hunks that do not fit the file. Each error names the hunk, what it expects, what the file has there, and what to do next. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import { safeLine, safeText } from '@tool-runtime/protocol/internal';
import { HunkSide, isAt, LineKeys, loosely, tolerantly, withoutLineEnd } from './find-lines.ts';
import type { Lines, TextLines } from './line-table.ts';
import type { FilePatch, Hunk } from './unified-diff.ts';

export interface Mismatch {
  readonly patch: FilePatch;
  readonly hunk: Hunk;
  readonly side: HunkSide;
  /** Index of the line where the hunk was expected to begin. */
  readonly around: number;
}

function hunkError(hunk: Hunk, message: string, details: JsonObject): ToolError {
  const stated = hunk.oldStart === undefined ? {} : { stated_line: hunk.oldStart };
  return new ToolError('E_FILE_IO', message, { details: { hunk: hunk.number, ...stated, ...details } });
}

export function hunkMismatch(text: TextLines, mismatch: Mismatch): ToolError {
  const { patch, hunk, side, around } = mismatch;
  if (isApplied(text, patch, hunk, around)) return alreadyApplied(hunk, around);
  const nearest = findNearest(text, side, around);
  const difference = firstDifference(text, side, nearest?.index ?? around);
  const { line, expected, found } = difference;
  const stands = found === null ? 'the file ends there' : `found "${safeText(found)}"`;
  return hunkError(
    hunk,
    `Hunk ${hunk.number} does not match the file: line ${line} should be "${safeText(expected)}", ${stands}`,
    {
      reason: 'hunk_mismatch',
      ...difference,
      ...nearestDetails(nearest, side),
      next: `Read the file again around line ${line} and rebuild hunk ${hunk.number} from its exact lines; nothing was changed`,
    },
  );
}

/** The new lines are where the old ones should be: a repeated patch. Blank lines alone prove nothing. */
function isApplied(text: TextLines, patch: FilePatch, hunk: Hunk, around: number): boolean {
  const side = new HunkSide(patch.lines, hunk, 'new');
  return hunk.added > 0 && isAt(text, { side, mustEndFile: false }, around, tolerantly);
}

function alreadyApplied(hunk: Hunk, around: number): ToolError {
  return hunkError(hunk, `Hunk ${hunk.number} is in the file already: line ${around + 1}`, {
    reason: 'already_applied',
    line: around + 1,
    next: 'Leave the hunk out, or read the file again; nothing was changed',
  });
}

function nearestDetails(nearest: NearestPlace | undefined, side: HunkSide): JsonObject {
  if (nearest === undefined) return {};
  return { nearest_line: nearest.index + 1, nearest_matching: nearest.matching, nearest_of: side.length };
}

/** The first line of the run that is not in the text when the run begins at `index`. */
function firstDifference(text: TextLines, side: HunkSide, index: number) {
  let offset = 0;
  while (offset < side.length - 1 && text.has(index + offset) && tolerantly.same(text, index + offset, side, offset)) {
    offset += 1;
  }
  const at = index + offset;
  return { line: at + 1, expected: shownLine(side, offset), found: text.has(at) ? shownLine(text, at) : null };
}

function shownLine(lines: Lines, index: number): string {
  return shownBytes(lines.bytes, lines.start(index), withoutLineEnd(lines, index));
}

export function ambiguousHunk(
  hunk: Hunk,
  places: readonly number[],
  { isCut }: { readonly isCut: boolean },
): ToolError {
  const lines = places.map((index) => index + 1);
  const list = `${lines.join(', ')}${isCut ? ' and maybe more' : ''}`;
  return hunkError(hunk, `Hunk ${hunk.number} fits more than one place: lines ${list}`, {
    reason: 'hunk_ambiguous',
    candidates: lines,
    next: 'Give the right line number in the hunk header, or more lines of context; nothing was changed',
  });
}

export function hunkOutOfOrder(hunk: Hunk, index: number): ToolError {
  return hunkError(hunk, `Hunk ${hunk.number} lies before the end of the hunk above it: line ${index + 1}`, {
    reason: 'hunk_order',
    line: index + 1,
    next: 'Put the hunks in the order of the file and let none overlap; nothing was changed',
  });
}

export function unplacedHunk(hunk: Hunk): ToolError {
  return hunkError(hunk, `Hunk ${hunk.number} has no line to find its place by`, {
    reason: 'hunk_unplaced',
    next: 'Add a line of context from the file above or below the added lines; nothing was changed',
  });
}

/** `index`: of the line beside the added ones that the hunk does not show. */
export function openHunk(text: TextLines, hunk: Hunk, side: 'above' | 'below', index: number): ToolError {
  const beside = shownLine(text, index);
  const where = side === 'above' ? 'starts with' : 'ends in';
  return hunkError(hunk, `Hunk ${hunk.number} ${where} added lines, and nothing shows what is ${side} them`, {
    reason: 'hunk_open',
    line: index + 1,
    beside,
    next: `If line ${index + 1}, "${safeText(beside)}", is ${side} the added lines, add it as context; else read the file again. Write @@ without numbers, or use file_edit, to insert beside the shown lines; nothing was changed`,
  });
}

export function tooFarOff(hunk: Hunk): ToolError {
  return hunkError(hunk, `Too many hunks away from their stated lines: hunk ${hunk.number}`, {
    reason: 'search_limit',
    next: 'Correct the line numbers, or split the diff; nothing was changed',
  });
}

export function openEndedHunk(hunk: Hunk): ToolError {
  return hunkError(hunk, `Hunk ${hunk.number} does not match at its stated line, and its last line has no line feed`, {
    reason: 'diff_cut',
    next: 'If the diff was cut off, send all of it; if it is complete, end it with a line feed; nothing was changed',
  });
}

const SHOWN_CHARACTERS = 160;
const MAX_BYTES_OF_CHARACTER = 4;

function shownBytes(bytes: Buffer, start: number, end: number): string {
  const most = start + (SHOWN_CHARACTERS + 1) * MAX_BYTES_OF_CHARACTER;
  return safeLine(bytes.toString('utf8', start, Math.min(end, most)), SHOWN_CHARACTERS);
}

interface NearestPlace {
  /** Index of the line the run would begin at. */
  readonly index: number;
  readonly matching: number;
}

/** A run and a text of nothing but equal lines would take lines times lines; after so many votes the best so far is used. */
const MAX_VOTES = 1_000_000;

const MAX_POSITIONS = 64;

/** Each line that occurs in both votes for the place it speaks for; among equals the one closest to `around` wins. */
function findNearest(text: TextLines, side: HunkSide, around: number): NearestPlace | undefined {
  const keys = new LineKeys(side, loosely);
  const positions = positionsById(side, keys);
  const votes = new Map<number, number>();
  let cast = 0;
  for (let index = 0; text.has(index) && cast < MAX_VOTES; index++) {
    for (const position of positions.get(keys.idOf(text, index)) ?? []) {
      const place = index - position;
      if (place >= 0) votes.set(place, (votes.get(place) ?? 0) + 1);
      cast += 1;
    }
  }
  let best: NearestPlace | undefined;
  for (const [index, matching] of votes) {
    const isCloser = best === undefined || Math.abs(index - around) < Math.abs(best.index - around);
    if (matching > (best?.matching ?? 0) || (matching === best?.matching && isCloser)) best = { index, matching };
  }
  return best;
}

/** Empty lines speak for no place. */
function positionsById(side: HunkSide, keys: LineKeys): Map<number, number[]> {
  const positions = new Map<number, number[]>();
  for (let index = 0; index < side.length; index++) {
    if (loosely.keyEnd(side, index) === loosely.keyStart(side, index)) continue;
    const id = keys.idOf(side, index);
    const known = positions.get(id);
    if (known === undefined) positions.set(id, [index]);
    else if (known.length < MAX_POSITIONS) known.push(index);
  }
  return positions;
}
