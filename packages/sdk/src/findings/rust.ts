/**
 * rustc and cargo (`error[E0308]: …` above ` --> file:l:c`), rustfmt --check in its old and new wording.
 *
 * ruff and ty print the same arrow under their own headings (`F401 [*] …`).
 */
import { type FindingFormat, type PrintedFinding, severityOf } from './command-finding.ts';

const ARROW = /^\s*--> ((?:[A-Za-z]:[\\/])?[^\s:][^:]*)(?::cell \d{1,9})?:(\d{1,9}):(\d{1,9})$/;
const HEADING = /^(error|warning|note|help|info)(?:\[([\w:-]{1,80})\])?: (.*)$/;
const RUFF_HEADING = /^(?:([A-Z]{1,6}\d{2,5}) (?:\[\*\] )?|(invalid-syntax): )(\S.*)$/;
const UNFORMATTED = /^Diff in (.+?)(?: at line |:)(\d{1,9}):$/;
/** A message of several lines is rare and short. */
const LINES_ABOVE = 4;

export const rust: FindingFormat = {
  name: 'rust',
  open: () => (lines, at) => readArrow(lines, at) ?? readDiff(lines[at] ?? ''),
};

function readArrow(lines: readonly string[], at: number): PrintedFinding | undefined {
  const [, path, line, column] = ARROW.exec(lines[at] ?? '') ?? [];
  if (path === undefined) return undefined;
  for (let above = at - 1; above >= Math.max(0, at - LINES_ABOVE); above--) {
    const text = lines[above] ?? '';
    if (text === '') return undefined;
    const heading = readHeading(text);
    if (heading !== undefined) return { path, line, column, ...heading };
  }
  return undefined;
}

function readHeading(text: string): Pick<PrintedFinding, 'severity' | 'code' | 'message'> | undefined {
  const [, word, code, message] = HEADING.exec(text) ?? [];
  if (word !== undefined) return { severity: severityOf(word), code, message };
  const [, number, name, rest] = RUFF_HEADING.exec(text) ?? [];
  return rest === undefined ? undefined : { severity: 'error', code: number ?? name, message: rest };
}

function readDiff(text: string): PrintedFinding | undefined {
  const [, path, line] = text.startsWith('Diff in ') ? (UNFORMATTED.exec(text) ?? []) : [];
  if (path === undefined) return undefined;
  return { path, line, severity: 'error', code: 'format', message: 'Lines are not formatted as rustfmt would' };
}
