/** biome's default output: a heading `file:l:c category ━━━`, and below it the message behind its sign. */
import type { FindingFormat, FindingSeverity, PrintedFinding } from './command-finding.ts';

const HEADING =
  /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*?)(?::(\d{1,9}):(\d{1,9}))? ([a-zA-Z]+(?:\/[\w-]+)*)(?: {2}[A-Z]{1,20}){0,3} {1,2}━+$/;
const MESSAGE = /^\s{1,8}([×✖!⚠iℹ]) (.*)$/;
const LINES_BELOW = 4;

const SIGNS: ReadonlyMap<string, FindingSeverity> = new Map([
  ['×', 'error'],
  ['✖', 'error'],
  ['!', 'warning'],
  ['⚠', 'warning'],
]);

export const biome: FindingFormat = { name: 'biome', open: () => readHeading };

function readHeading(lines: readonly string[], at: number): PrintedFinding | undefined {
  const text = lines[at] ?? '';
  // Most lines of any output end here: the pattern is for those that are left.
  if (!text.endsWith('━')) return undefined;
  const [, path, line, column, code] = HEADING.exec(text) ?? [];
  if (path === undefined) return undefined;
  for (const below of lines.slice(at + 1, at + 1 + LINES_BELOW)) {
    const [, sign, message] = MESSAGE.exec(below) ?? [];
    if (sign !== undefined) return { path, line, column, severity: SIGNS.get(sign) ?? 'info', code, message };
  }
  return undefined;
}
