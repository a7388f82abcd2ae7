/**
 * oxlint's default output: `  x plugin(rule): message`, then the place as `,-[file:l:c]` or `╭─[file:l:c]`.
 *
 * Long messages continue after a bar, so the sign is looked for a few lines above the place.
 */
import type { FindingFormat, FindingSeverity, PrintedFinding } from './command-finding.ts';

const PLACE = /^\s*(?:,-|╭─)\[((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d{1,9}):(\d{1,9})\]$/;
const MESSAGE = /^\s{1,4}([x×!⚠›]) (?:([\w@-]+\([\w/@.-]+\)): )?(.*)$/;
const CONTINUED = /^\s{1,4}[|│] (.*)$/;
const LINES_ABOVE = 8;

const SIGNS: ReadonlyMap<string, FindingSeverity> = new Map([
  ['x', 'error'],
  ['×', 'error'],
  ['!', 'warning'],
  ['⚠', 'warning'],
]);

export const oxlint: FindingFormat = { name: 'oxlint', open: () => readPlace };

function readPlace(lines: readonly string[], at: number): PrintedFinding | undefined {
  const [, path, line, column] = PLACE.exec(lines[at] ?? '') ?? [];
  if (path === undefined) return undefined;
  const rest: string[] = [];
  for (let above = at - 1; above >= Math.max(0, at - LINES_ABOVE); above--) {
    const text = lines[above] ?? '';
    const [, sign, code, message = ''] = MESSAGE.exec(text) ?? [];
    if (sign !== undefined) {
      return { path, line, column, severity: SIGNS.get(sign) ?? 'info', code, message: [message, ...rest].join(' ') };
    }
    const [, more] = CONTINUED.exec(text) ?? [];
    if (more === undefined) return undefined;
    rest.unshift(more.trim());
  }
  return undefined;
}
