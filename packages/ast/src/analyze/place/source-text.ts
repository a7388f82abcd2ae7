/**
 * A source, or some whole lines of it, in which places are looked up. Lines end at a line feed.
 *
 * Each line is measured at most once for a unit, so that many findings in one very long line stay cheap.
 */
import type { ColumnUnit, Point } from '../analyzer-adapter.ts';

const MARK = 0xfeff;

export class SourceText {
  readonly #text: string;
  readonly #firstLine: number;
  /** Offset of each line's first unit. */
  readonly #starts: readonly number[];
  readonly #maps = new Map<string, UnitMap>();

  constructor(text: string, firstLine = 1) {
    this.#text = text;
    this.#firstLine = firstLine;
    this.#starts = lineStarts(text);
  }

  get hasMark(): boolean {
    return this.#firstLine === 1 && this.#text.charCodeAt(0) === MARK;
  }

  /** The same place with its column in UTF-16 units; undefined when the line is not here. */
  point({ line, col }: Point, unit: ColumnUnit): Point | undefined {
    const text = this.#line(line);
    if (text === undefined) return undefined;
    if (col === Number.POSITIVE_INFINITY) return { line, col: text.replace(/\r$/, '').length + 1 };
    return { line, col: this.#map(`${unit}:${line}`, text, unit)(col - 1) + 1 };
  }

  /** Where an offset from the start of the file is; only for a whole source. */
  pointAt(offset: number, unit: ColumnUnit): Point {
    const index = this.#map(unit, this.#text, unit)(offset);
    const line = countUpTo(this.#starts, index);
    return { line: line + this.#firstLine - 1, col: index - (this.#starts[line - 1] ?? 0) + 1 };
  }

  #line(line: number): string | undefined {
    const start = this.#starts[line - this.#firstLine];
    if (start === undefined) return undefined;
    const next = this.#starts[line - this.#firstLine + 1];
    return this.#text.slice(start, next === undefined ? undefined : next - 1);
  }

  #map(key: string, text: string, unit: ColumnUnit): UnitMap {
    const known = this.#maps.get(key);
    if (known !== undefined) return known;
    const map = createUnitMap(text, unit);
    this.#maps.set(key, map);
    return map;
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Offsets counted in bytes or code points as offsets in UTF-16 units: one pass over the text, then a binary search each. */
type UnitMap = (offset: number) => number;

/** Offsets beyond the text become its end. */
export function createUnitMap(text: string, unit: ColumnUnit): UnitMap {
  const within = (offset: number): number => Math.max(0, Math.min(offset, text.length));
  const { ends, shifts } = unit === 'utf16' ? NOTHING_WIDE : wideCharacters(text, unit);
  if (ends.length === 0) return within;
  return (offset) => within(offset - (shifts[countUpTo(ends, offset) - 1] ?? 0));
}

/** How many of the ascending numbers are not above `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface WideCharacters {
  /** Where each character that is not one unit of both kinds ends, in the foreign unit. */
  readonly ends: readonly number[];
  /** How far the foreign count is ahead from there on. */
  readonly shifts: readonly number[];
}

const NOTHING_WIDE: WideCharacters = { ends: [], shifts: [] };

function wideCharacters(text: string, unit: 'code_point' | 'byte'): WideCharacters {
  const ends: number[] = [];
  const shifts: number[] = [];
  let shift = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    const isPair = code >= 0xd800 && code <= 0xdbff && index + 1 < text.length;
    if (isPair) index++;
    const ahead = unit === 'byte' ? bytesAhead(code, isPair) : isPair ? -1 : 0;
    if (ahead === 0) continue;
    shift += ahead;
    shifts.push(shift);
    ends.push(index + 1 + shift);
  }
  return { ends, shifts };
}

function bytesAhead(code: number, isPair: boolean): number {
  if (isPair) return 2;
  return code < 0x800 ? 1 : 2;
}
