/** Reads fields of unchecked JSON: what is missing or of another type is simply undefined. */

const LARGEST = 2_147_483_647;

/** The value at the end of the names; only own properties count. */
export function at(value: unknown, ...names: readonly (string | number)[]): unknown {
  let current = value;
  for (const name of names) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Record<string | number, unknown>)[name];
  }
  return current;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function filledText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function wholeNumber(value: unknown, least = 0): number | undefined {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= LARGEST;
  return fits ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function webAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\/\S{1,2000}$/i.test(value) ? value : undefined;
}
