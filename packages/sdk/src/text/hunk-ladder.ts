/**
 * The lines of a hunk that fit the file only by a lenient level of edit-ladder.ts.
 *
 * A hunk is an edit of whole lines, so the ladder places it like any other: the lines that stay keep the bytes they have
 * in the file, and added lines get the file's indent and line ends.
 */
import { isUtf8 } from 'node:buffer';
import { findPlaces, type MatchLevel, type Place } from './edit-ladder.ts';
import type { HunkSide } from './find-lines.ts';

export interface DecodedText {
  /** Ends in a line end, whether the file does or not. */
  readonly text: string;
  readonly length: number;
  /** One byte a character where the file is not UTF-8, which is lossless for any bytes. */
  readonly encoding: 'utf8' | 'latin1';
  /** Where each line begins. */
  readonly starts: readonly number[];
}

export function decodeLines(bytes: Buffer): DecodedText {
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  const own = bytes.toString(encoding);
  const starts: number[] = [];
  for (let at = 0; at < own.length; at = own.indexOf('\n', at) + 1 || own.length) starts.push(at);
  const isBare = own !== '' && !own.endsWith('\n');
  return { text: isBare ? `${own}${own.includes('\r\n') ? '\r\n' : '\n'}` : own, length: own.length, encoding, starts };
}

export interface HunkRun {
  readonly old: HunkSide;
  readonly new: HunkSide;
  readonly mustEndFile: boolean;
  /** The first line that may be used. */
  readonly from: number;
}

export interface ClimbedPlace {
  /** Lines of the file from here on. */
  readonly index: number;
  readonly length: number;
  readonly match: MatchLevel;
  readonly replacement: Buffer;
}

/** The places of the first level that has any; undefined when none has. */
export function climbHunk(file: DecodedText, run: HunkRun): readonly ClimbedPlace[] | undefined {
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
