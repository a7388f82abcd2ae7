/** Reads values of options: numbers, times and lists of names. */
import { badUsage } from '../terminal/bad-usage.ts';

/** A parser for commander; anything but a whole number of at least `min` is a usage error. */
export function wholeNumber(option: string, min: 0 | 1): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && Number.isSafeInteger(value)) return value;
    throw badUsage(`${option} takes a whole number of at least ${min}: ${text}`);
  };
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A point in time, in milliseconds of the epoch: how long ago, or a date. */
export function sinceTime(option: string, now: () => number = Date.now): (text: string) => number {
  return (text) => {
    const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
    const ago = UNITS[unit];
    if (ago !== undefined) return Math.max(0, now() - Number(count) * ago);
    const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
    if (Number.isFinite(time) && time >= 0) return time;
    throw badUsage(`${option} takes a time such as 7d, 12h, 30m or 2026-11-01: ${text}`);
  };
}

/** Names with commas between them. */
export function nameList(text: string): readonly string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw badUsage(`A list of names is empty: ${text}`, 'write names with commas between them');
  return names;
}
