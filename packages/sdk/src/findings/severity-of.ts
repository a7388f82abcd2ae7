/** The words programs use for how bad something is. */
import type { FindingSeverity } from './command-finding.ts';

const SEVERITIES: ReadonlyMap<string, FindingSeverity> = new Map([
  ['error', 'error'],
  ['fatal error', 'error'],
  ['fatal', 'error'],
  ['warning', 'warning'],
  ['warn', 'warning'],
]);

/** Any other word (note, help, info, message, notice) is information. */
export function severityOf(word: string | undefined): FindingSeverity {
  return SEVERITIES.get((word ?? '').toLowerCase()) ?? 'info';
}
