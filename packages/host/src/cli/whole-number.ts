/** Reads the number of an option as people type it. */
import { badUsage } from '../terminal/bad-usage.ts';

/** A parser for commander; anything but digits from `min` on is bad usage. */
export function wholeNumber(option: string, min: 0 | 1): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && Number.isSafeInteger(value)) return value;
    throw badUsage(`${option} takes a whole number of at least ${min}: ${text}`);
  };
}
