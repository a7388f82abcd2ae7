/** flake8 and ruff's one-line form, what black and ruff would reformat, and Python's own syntax errors. */
import type { FindingFormat, FindingSeverity, PrintedFinding } from './command-finding.ts';

const LINT =
  /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*\.(?:pyi?|ipynb))(?::cell \d{1,9})?:(\d{1,9}):(\d{1,9}): (?:([A-Z]{1,6}\d{1,5}):? (?:\[\*\] )?|(invalid-syntax|SyntaxError): )(\S.*)$/;
const REFORMATTED = /^[Ww]ould reformat:? (\S.*\.(?:pyi?|ipynb))$/;
const UNREADABLE = /^error: cannot format (\S.*\.(?:pyi?|ipynb)): (\S.*)$/;
const UNREADABLE_PLACE = /^Cannot parse[^:]*: (\d{1,9}):(\d{1,9}): /;
const FILE = /^\s*File "([^"]+)", line (\d{1,9})$/;
const SYNTAX = /^(SyntaxError|IndentationError|TabError): (.*)$/;
const LINES_BELOW = 4;

export const python: FindingFormat = {
  name: 'python',
  open: () => (lines, at) => readLint(lines[at] ?? '') ?? readFormat(lines[at] ?? '') ?? readSyntax(lines, at),
};

function readLint(text: string): PrintedFinding | undefined {
  const [, path, line, column, number, name, message] = LINT.exec(text) ?? [];
  if (path === undefined) return undefined;
  const severity: FindingSeverity = number?.startsWith('W') === true ? 'warning' : 'error';
  return { path, line, column, severity, code: number ?? name, message };
}

function readFormat(text: string): PrintedFinding | undefined {
  const [, changed] = REFORMATTED.exec(text) ?? [];
  if (changed !== undefined) {
    return { path: changed, severity: 'error', code: 'format', message: 'File is not formatted' };
  }
  const [, path, message = ''] = text.startsWith('error: cannot format ') ? (UNREADABLE.exec(text) ?? []) : [];
  if (path === undefined) return undefined;
  const [, line, column] = UNREADABLE_PLACE.exec(message) ?? [];
  return { path, line, column, severity: 'error', message };
}

/** Tracebacks look alike; only the frame right above a syntax error is about the file itself. */
function readSyntax(lines: readonly string[], at: number): PrintedFinding | undefined {
  const [, path, line] = FILE.exec(lines[at] ?? '') ?? [];
  if (path === undefined) return undefined;
  for (const text of lines.slice(at + 1, at + 1 + LINES_BELOW)) {
    if (FILE.test(text)) return undefined;
    const [, code, message] = SYNTAX.exec(text) ?? [];
    if (code !== undefined) return { path, line, severity: 'error', code, message };
  }
  return undefined;
}
