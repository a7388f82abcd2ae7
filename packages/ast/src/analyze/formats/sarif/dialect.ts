/**
 * How producers read the standard differently, as found by running them on lines with wide characters and files with odd
 * names. Semgrep's entry follows reports in its issue tracker; it was not run.
 */
import type { ColumnUnit } from '../../analyzer-adapter.ts';
import { at, textOf } from '../../loose-json.ts';

export interface Dialect {
  readonly unit: ColumnUnit;
  /** Addresses are plain paths: a percent sign in one is part of the name. */
  readonly hasPlainPaths: boolean;
}

const KNOWN: readonly (Dialect & { readonly driver: RegExp })[] = [
  { driver: /^ast-grep$/i, unit: 'code_point', hasPlainPaths: true },
  { driver: /^biome$/i, unit: 'code_point', hasPlainPaths: true },
  // Says unicodeCodePoints and counts bytes.
  { driver: /^oxlint$/i, unit: 'byte', hasPlainPaths: true },
  { driver: /^semgrep\b/i, unit: 'byte', hasPlainPaths: false },
];

/** What a run says of itself counts only where nothing is known about its producer; unsaid means code points. */
export function dialectOf(run: unknown): Dialect {
  const driver = textOf(at(run, 'tool', 'driver', 'name')) ?? '';
  const known = KNOWN.find((dialect) => dialect.driver.test(driver));
  if (known !== undefined) return known;
  return { unit: at(run, 'columnKind') === 'utf16CodeUnits' ? 'utf16' : 'code_point', hasPlainPaths: false };
}
