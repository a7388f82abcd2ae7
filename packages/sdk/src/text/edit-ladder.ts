/**
 * Where a text that is to be replaced stands in a file, when it was copied with small mistakes.
 *
 * Levels are tried from strict to lenient, and the first one with a hit decides: with exactly one the edit has its place,
 * with several it is ambiguous. There are no scores and no guesses. Lines that the old and the new text share keep the
 * bytes they have in the file, whatever the level.
 */
import { essence, type FoldedText, type Folding, findRuns, foldText } from './folded-text.ts';
import { contentOf, findShift, type IndentShift, indentOf } from './shift-indent.ts';

export const MATCH_LEVELS = ['exact', 'line_ends', 'trailing', 'indent', 'unicode', 'escape'] as const;
export type MatchLevel = (typeof MATCH_LEVELS)[number];

export interface Wanted {
  readonly old: string;
  readonly new: string;
}

/** A part of the file and what it becomes. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Hits {
  readonly match: MatchLevel;
  readonly places: readonly Place[];
}

/** A larger file is searched for the exact text only. */
const MAX_INEXACT_CHARS = 4 * 1024 * 1024;

/**
 * The hits of the first level that has any; undefined when none has. `old` is not empty. Places that `accepts` refuses
 * do not count.
 */
export function findPlaces(
  file: string,
  wanted: Wanted,
  accepts: (place: Place) => boolean = () => true,
): Hits | undefined {
  const eol = lineEndOf(file);
  const exact = exactPlaces(file, { old: wanted.old, new: withLineEnd(wanted.new, wanted.old, eol) }).filter(accepts);
  if (exact.length > 0) return { match: 'exact', places: exact };
  if (file.length > MAX_INEXACT_CHARS) return undefined;
  // Most texts that are not there are not there in any form, which is quick to see.
  const isPossible = essence(file).includes(essence(wanted.old));
  for (const match of isPossible ? MATCH_LEVELS.slice(1) : (['escape'] as const)) {
    const places = LEVELS[match](file, wanted, eol).filter(accepts);
    if (places.length > 0) return { match, places };
  }
  return undefined;
}

type Level = (file: string, wanted: Wanted, eol: string) => readonly Place[];

const LEVELS: Readonly<Record<MatchLevel, Level>> = {
  exact: exactPlaces,
  line_ends: byFolding({}),
  trailing: byFolding({ trailing: true }),
  indent: shiftedPlaces,
  unicode: byFolding({ trailing: true, lookalikes: true }),
  escape: escapedPlaces,
};

/** The line end of all lines, or a line feed where they differ. */
function lineEndOf(file: string): string {
  return file.includes('\r\n') && !/(?<!\r)\n/.test(file) ? '\r\n' : '\n';
}

/** In a file with carriage returns new lines get them too, unless the request shows that it knows about line ends. */
function withLineEnd(text: string, old: string, eol: string): string {
  if (eol === '\n' || text.includes('\r') || old.includes('\n')) return text;
  return text.replaceAll('\n', eol);
}

function exactPlaces(file: string, wanted: Wanted): readonly Place[] {
  return occurrences(file, wanted.old).map((start) => ({ start, end: start + wanted.old.length, text: wanted.new }));
}

/** The engine's own search is quick for short texts, and may take length times length for long ones that repeat. */
const LONG_TEXT = 512;

/** Of texts that overlap themselves every second one is left out, as with any search and replace. */
function occurrences(text: string, part: string): readonly number[] {
  const found: number[] = [];
  if (part === '') return found;
  if (part.length > LONG_TEXT) return findRuns(text, part, { overlap: false });
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

function byFolding(folding: Folding): Level {
  return (file, wanted, eol) => {
    const [text, old] = [foldText(file, folding), foldText(wanted.old, folding)];
    return occurrences(text.text, old.text)
      .filter((hit) => isWhole(text, hit) && isWhole(text, hit + old.text.length))
      .map((hit) => {
        const start = text.starts[hit] ?? 0;
        const last = text.ends[hit + old.text.length - 1] ?? file.length;
        const end = folding.trailing === true && !wanted.old.endsWith('\n') ? pastBlanks(file, last) : last;
        /** What the file has for a part of the old text; blanks that were folded away belong to the line they end. */
        const kept: Kept = (from, to, { isHead = false } = {}) => {
          const [low, high] = [firstFrom(old.starts, from), firstFrom(old.starts, to)];
          const isLineStart = wanted.old[from - 1] === '\n';
          const begin = low === 0 ? start : ((isLineStart ? text.ends[hit + low - 1] : text.starts[hit + low]) ?? end);
          const stop = high === old.starts.length && !isHead ? end : high > low ? text.ends[hit + high - 1] : begin;
          return file.slice(begin, stop);
        };
        return { start, end, text: merge(wanted, kept, eol, (line) => lineWith(line, eol)) };
      });
  };
}

/** The end of the blanks that end a line here; the same place where none do. */
function pastBlanks(file: string, from: number): number {
  let end = from;
  while (file[end] === ' ' || file[end] === '\t') end++;
  return end === file.length || file[end] === '\n' || file.startsWith('\r\n', end) ? end : from;
}

/** Index of the first of the ascending numbers that is not below `least`. */
function firstFrom(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One character may be folded into several; a hit must not begin or end inside of it. */
function isWhole({ starts }: FoldedText, at: number): boolean {
  return at === 0 || at >= starts.length || starts[at] !== starts[at - 1];
}

function lineWith(line: string, eol: string): string {
  return line.replace(/\r?\n$/, eol);
}

/**
 * Lines that differ by the same shift of their indent: whole lines, or the end of a line that the edit keeps, followed by
 * whole lines.
 */
function shiftedPlaces(file: string, wanted: Wanted, eol: string): readonly Place[] {
  const whole = indentedPlaces(file, wanted, eol);
  if (whole.length > 0) return whole;
  const [head, rest] = splitHead(wanted.old);
  const [newHead, newRest] = splitHead(wanted.new);
  if (contentOf(rest) === '' || head === '' || head !== newHead || indentOf(head) !== '') return [];
  return indentedPlaces(file, { old: rest, new: newRest }, eol).filter(({ start }) => {
    const above = start === 0 ? '' : contentOf(bare(file.slice(file.lastIndexOf('\n', start - 2) + 1, start)));
    return isEndOf(above, contentOf(head));
  });
}

/** Of more than itself, and not from inside of a word. */
function isEndOf(line: string, part: string): boolean {
  const before = line.slice(0, -part.length);
  return before !== '' && line.endsWith(part) && !(/[\w$]$/.test(before) && /^[\w$]/.test(part));
}

/** The first line without its end, and what follows it. */
function splitHead(text: string): readonly [string, string] {
  const end = text.indexOf('\n') + 1;
  return end === 0 ? ['', ''] : [bare(text.slice(0, end)), text.slice(end)];
}

/** Whole lines that differ by the same shift of their indent. */
function indentedPlaces(file: string, wanted: Wanted, eol: string): readonly Place[] {
  const lines = linesOf(file);
  const old = linesOf(wanted.old);
  const asked = old.map(({ text }) => bare(text));
  const found = lines.map(({ text }) => bare(text));
  const places: Place[] = [];
  let compared = 0;
  for (const first of findRuns(found.map(contentOf), asked.map(contentOf), { overlap: true })) {
    compared += old.length;
    if (compared > MAX_COMPARISONS) return [];
    const shift = findShift(asked, found.slice(first, first + old.length));
    const place = shift && shiftedPlace({ lines, old, first, shift }, wanted, eol);
    if (place !== undefined) places.push(place);
  }
  return places;
}

interface Line {
  readonly start: number;
  /** With its line end. */
  readonly text: string;
}

interface Shifted {
  readonly lines: readonly Line[];
  readonly old: readonly Line[];
  readonly first: number;
  readonly shift: IndentShift;
}

/** Undefined when the shift says nothing about a line of the new text. */
function shiftedPlace({ lines, old, first, shift }: Shifted, wanted: Wanted, eol: string): Place | undefined {
  const within = lines.slice(first, first + old.length);
  const [begin, last] = [within[0], within.at(-1)];
  if (begin === undefined || last === undefined) return undefined;
  const isOpen = !wanted.old.endsWith('\n');
  const end = last.start + (isOpen ? bare(last.text).length : last.text.length);
  const kept: Kept = (from) => {
    const at = old.findIndex(({ start }) => start === from);
    const text = within[at]?.text ?? '';
    return at === old.length - 1 && isOpen ? bare(text) : text;
  };
  let isClear = true;
  const text = merge(
    wanted,
    kept,
    eol,
    (line) => {
      const content = bare(line);
      const indent = contentOf(content) === '' ? content : shift(indentOf(content));
      isClear &&= indent !== undefined;
      return lineWith(contentOf(content) === '' ? line : `${indent}${line.slice(indentOf(content).length)}`, eol);
    },
    { wholeLines: true },
  );
  return isClear ? { start: begin.start, end, text } : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', "'": "'", '\\': '\\' };

/** A request whose escapes were written out, as in `\\n` for a line break. */
function escapedPlaces(file: string, wanted: Wanted, eol: string): readonly Place[] {
  const plain = (text: string): string => text.replace(/\\([ntr"'\\])/g, (_, name: string) => ESCAPES[name] ?? name);
  const unescaped = { old: plain(wanted.old), new: plain(wanted.new) };
  if (unescaped.old === wanted.old) return [];
  const levels = [LEVELS.exact, LEVELS.line_ends, LEVELS.trailing];
  return levels.map((level) => level(file, unescaped, eol)).find((places) => places.length > 0) ?? [];
}

type Kept = (from: number, to: number, part?: { readonly isHead?: boolean }) => string;

/**
 * The new text: lines it shares with the old one as they are in the file (`kept`), others as asked for (`added`). A line
 * that replaces one line keeps the beginning and the end that both have in common.
 */
function merge(
  wanted: Wanted,
  kept: Kept,
  eol: string,
  added: (line: string) => string,
  { wholeLines = false } = {},
): string {
  let result = '';
  for (const { removed, inserted, same } of blocks(linesOf(wanted.old), linesOf(wanted.new))) {
    if (same !== undefined) result += keptLine(same, kept, eol);
    else if (removed.length !== inserted.length || wholeLines)
      result += inserted.map(({ text }) => added(text)).join('');
    else result += inserted.map((line, at) => mergeLine(removed[at] as Line, line, kept, added)).join('');
  }
  return result;
}

/** Only one of the two may have a line end, where one is the last line. */
function keptLine({ old, now }: Shared, kept: Kept, eol: string): string {
  const text = kept(old.start, old.start + old.text.length);
  if (!now.text.endsWith('\n')) return bare(text);
  return text.endsWith('\n') ? text : `${text}${eol}`;
}

function mergeLine(old: Line, now: Line, kept: Kept, added: (line: string) => string): string {
  const shorter = Math.min(old.text.length, now.text.length);
  let head = 0;
  while (head < shorter && old.text[head] === now.text[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.text.at(-1 - tail) === now.text.at(-1 - tail)) tail++;
  const end = old.start + old.text.length;
  const middle = now.text.slice(head, now.text.length - tail);
  const before = head === 0 ? '' : kept(old.start, old.start + head, { isHead: true });
  return before + (tail > 0 ? middle + kept(end - tail, end) : added(middle));
}

interface Shared {
  readonly old: Line;
  readonly now: Line;
}

interface Block {
  readonly same: Shared | undefined;
  readonly removed: readonly Line[];
  readonly inserted: readonly Line[];
}

/**
 * What two texts share, by lines, in order: one block for each shared line, and one for what is between them. Lines at
 * the beginning and at the end that are the same are shared before any other.
 */
function blocks(old: readonly Line[], now: readonly Line[]): readonly Block[] {
  const isSame = (one: Line | undefined, other: Line | undefined): boolean =>
    one !== undefined && other !== undefined && bare(one.text) === bare(other.text);
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && isSame(old[head], now[head])) head++;
  let tail = 0;
  while (tail < shorter - head && isSame(old.at(-1 - tail), now.at(-1 - tail))) tail++;
  const [oldEnd, nowEnd] = [old.length - tail, now.length - tail];
  const common = commonLengths(old.slice(head, oldEnd), now.slice(head, nowEnd));
  const found: Block[] = [];
  let [row, column] = [0, 0];
  let [removed, inserted]: [Line[], Line[]] = [[], []];
  const close = (): void => {
    if (removed.length + inserted.length > 0) found.push({ same: undefined, removed, inserted });
    [removed, inserted] = [[], []];
  };
  while (row < old.length || column < now.length) {
    const [one, other] = [old[row], now[column]];
    const isEdge = row < head || (row >= oldEnd && column >= nowEnd);
    const isMiddle = row < oldEnd && column < nowEnd && isSame(one, other);
    if (one !== undefined && other !== undefined && (isEdge || isMiddle)) {
      close();
      found.push({ same: { old: one, now: other }, removed: [], inserted: [] });
      row++;
      column++;
    } else if (
      column >= nowEnd ||
      (row < oldEnd && common(row + 1 - head, column - head) >= common(row - head, column + 1 - head))
    ) {
      removed.push(old[row++] as Line);
    } else inserted.push(now[column++] as Line);
  }
  close();
  return found;
}

/** Beyond this many comparisons nothing counts as shared but what is at the beginning. */
const MAX_COMPARISONS = 4_000_000;

/** How many lines both share from a row and a column on, at best. */
function commonLengths(old: readonly Line[], now: readonly Line[]): (row: number, column: number) => number {
  const width = now.length + 1;
  if (old.length * now.length > MAX_COMPARISONS) return () => 0;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        bare(old[row]?.text ?? '') === bare(now[column]?.text ?? '')
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  return at;
}

/** With their line ends. */
function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed + 1;
    lines.push({ start, text: text.slice(start, end) });
    start = end;
  }
  return lines;
}

function bare(line: string): string {
  return line.replace(/\r?\n$/, '');
}
