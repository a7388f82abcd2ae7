/**
 * prettier --check: `[warn] file` for what it would change, `[error] file: …` for what it cannot read.
 *
 * Other programs print `[warn]` too: the lines count only where prettier has announced itself.
 */
import type { FindingFormat, PrintedFinding } from './command-finding.ts';

const STARTED = 'Checking formatting...';
const SUMMARY = '[warn] Code style issues';
const CHANGED = /^\[warn\] (\S.*)$/;
const UNREADABLE = /^\[error\] ((?:[A-Za-z]:[\\/])?[^\s:][^:]*): (\w*Error: .*)$/;
const PLACE = /\((\d{1,9}):(\d{1,9})\)$/;

export const prettier: FindingFormat = {
  name: 'prettier',
  open(lines) {
    if (!lines.some((line) => line === STARTED || line.startsWith(SUMMARY))) return () => undefined;
    return (all, at) => readChanged(all[at] ?? '') ?? readUnreadable(all[at] ?? '');
  },
};

function readChanged(text: string): PrintedFinding | undefined {
  const [, path] = CHANGED.exec(text) ?? [];
  if (path === undefined || path.includes(': ')) return undefined;
  return { path, severity: 'error', code: 'format', message: 'File is not formatted as prettier would' };
}

function readUnreadable(text: string): PrintedFinding | undefined {
  const [, path, message = ''] = UNREADABLE.exec(text) ?? [];
  if (path === undefined) return undefined;
  const [, line, column] = PLACE.exec(message) ?? [];
  return { path, line, column, severity: 'error', message };
}
