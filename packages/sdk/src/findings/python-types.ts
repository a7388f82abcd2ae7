/** mypy (`a.py:3: error: …  [code]`) and pyright (`  /abs/a.py:2:10 - error: … (rule)`, the rule at its last line). */
import { type FindingFormat, type PrintedFinding, severityOf, splitBracketed } from './command-finding.ts';

const MYPY = /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*\.pyi?):(\d{1,9})(?::(\d{1,9}))?: (error|warning|note): (.*)$/;
const PYRIGHT = /^\s*((?:[A-Za-z]:[\\/])?[^\s:][^:]*\.pyi?):(\d{1,9}):(\d{1,9}) - (error|warning|information): (.*)$/;
/** Pyright fills up with no-break spaces. */
const DEEPER = /^\s{4}/;
const LINES_BELOW = 8;

export const pythonTypes: FindingFormat = {
  name: 'python-types',
  open: () => (lines, at) => readMypy(lines[at] ?? '') ?? readPyright(lines, at),
};

function readMypy(text: string): PrintedFinding | undefined {
  const [, path, line, column, word, rest = ''] = MYPY.exec(text) ?? [];
  if (path === undefined) return undefined;
  return { path, line, column, severity: severityOf(word), ...splitBracketed(rest, '[') };
}

function readPyright(lines: readonly string[], at: number): PrintedFinding | undefined {
  const [, path, line, column, word, rest = ''] = PYRIGHT.exec(lines[at] ?? '') ?? [];
  if (path === undefined) return undefined;
  const { message, code = ruleBelow(lines, at) } = splitBracketed(rest, '(');
  return { path, line, column, severity: severityOf(word), code, message };
}

/** The rest of a long message is indented deeper than its head. */
function ruleBelow(lines: readonly string[], at: number): string | undefined {
  for (const text of lines.slice(at + 1, at + 1 + LINES_BELOW)) {
    if (!DEEPER.test(text)) return undefined;
    const { code } = splitBracketed(text, '(');
    if (code?.startsWith('report') === true) return code;
  }
  return undefined;
}
