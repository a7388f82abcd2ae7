/** Offsets counted in bytes or code points as offsets in UTF-16 units: one pass over the text, then a binary search each. */
import type { ColumnUnit } from '../analyzer-adapter.ts';

export type UnitMap = (offset: number) => number;

/** Offsets beyond the text become its end. */
export function createUnitMap(text: string, unit: ColumnUnit): UnitMap {
  const within = (offset: number): number => Math.max(0, Math.min(offset, text.length));
  const { ends, shifts } = unit === 'utf16' ? NOTHING_WIDE : wideCharacters(text, unit);
  if (ends.length === 0) return within;
  return (offset) => within(offset - (shifts[countUpTo(ends, offset) - 1] ?? 0));
}

/** How many of the ascending numbers are not above `limit`. */
export function countUpTo(ascending: readonly number[], limit: number): number {
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
