/**
 * The form of a fix that is an edit: `{ edits: [{ file?, start_line, start_col?, end_line?, end_col?, new_text }] }`.
 *
 * Lines and columns start at 1, columns count UTF-16 units, ends are exclusive, and without columns whole lines are
 * meant. All edits or none: a fix with one that cannot be read is no edit.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { ReportedViolation } from './report.ts';

export interface FixEdit {
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly startColumn?: number;
  readonly endColumn?: number;
  readonly newText: string;
}

export function readEdits({ fix, path }: Pick<ReportedViolation, 'fix' | 'path'>): readonly FixEdit[] | undefined {
  const list = fix?.['edits'];
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const edits = list.map((entry: JsonValue) => (isJsonObject(entry) ? readEdit(entry, path) : undefined));
  return edits.includes(undefined) ? undefined : (edits as FixEdit[]);
}

function readEdit(entry: JsonObject, path: string | undefined): FixEdit | undefined {
  const { file = path, start_line: startLine, end_line: endLine = startLine, new_text: newText } = entry;
  const { start_col: startColumn, end_col: endColumn } = entry;
  if (typeof file !== 'string' || file === '' || typeof newText !== 'string') return undefined;
  if (!isPlace(startLine) || !isPlace(endLine) || endLine < startLine) return undefined;
  if ((startColumn === undefined) !== (endColumn === undefined)) return undefined;
  if (startColumn === undefined || endColumn === undefined) return { file, startLine, endLine, newText };
  if (!isPlace(startColumn) || !isPlace(endColumn)) return undefined;
  if (startLine === endLine && endColumn < startColumn) return undefined;
  return { file, startLine, endLine, startColumn, endColumn, newText };
}

function isPlace(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}
