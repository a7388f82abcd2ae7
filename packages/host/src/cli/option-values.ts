/** Reads values of options: numbers and lists of names. */
import { badUsage } from '../terminal/bad-usage.ts';

/** A parser for commander; anything but a whole number of at least `min` is a usage error. */
export function wholeNumber(option: string, min: 0 | 1): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && Number.isSafeInteger(value)) return value;
    throw badUsage(`${option} takes a whole number of at least ${min}: ${text}`);
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
