/**
 * go build, go vet, gofmt's errors, and the bare names that gofmt -l prints (with exit code 0).
 *
 * The column is required: Go's own log lines begin with `file.go:12:`.
 */
import type { FindingFormat, PrintedFinding } from './command-finding.ts';

const PLACED = /^(?:vet: )?((?:[A-Za-z]:[\\/])?[^\s:][^:]*\.go):(\d{1,9}):(\d{1,9}): (\S.*)$/;
const NAME_ALONE = /^(?:[A-Za-z]:[\\/])?[^\s:]+\.go$/;

export const go: FindingFormat = { name: 'go', open: () => (lines, at) => readLine(lines[at] ?? '') };

function readLine(text: string): PrintedFinding | undefined {
  const [, path, line, column, message] = PLACED.exec(text) ?? [];
  if (path !== undefined) return { path, line, column, severity: 'error', message };
  if (!NAME_ALONE.test(text)) return undefined;
  return { path: text, severity: 'error', code: 'format', message: 'File is not formatted as gofmt would' };
}
