/** tsc, plain (`file(l,c): error TS…`) and pretty (`file:l:c - error TS…`). MSBuild and Roslyn print the plain form too. */
import { type FindingFormat, type PrintedFinding, severityOf } from './command-finding.ts';

const PLAIN =
  /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*)\((\d{1,9}),(\d{1,9})\): (error|warning|info|message) ([A-Z]{2,8}\d{1,6}): (.*)$/;
const PRETTY = /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d{1,9}):(\d{1,9}) - (error|warning|message) (TS\d{1,6}): (.*)$/;

export const typescript: FindingFormat = {
  name: 'typescript',
  open: () => (lines, at) => readLine(lines[at] ?? ''),
};

function readLine(text: string): PrintedFinding | undefined {
  const [, path, line, column, word, code, message] = PLAIN.exec(text) ?? PRETTY.exec(text) ?? [];
  if (path === undefined || message === undefined) return undefined;
  return { path, line, column, severity: severityOf(word), code, message: withoutProject(message) };
}

/** MSBuild adds the project: `… [/path/app.csproj]`. */
function withoutProject(message: string): string {
  const at = message.endsWith('proj]') ? message.lastIndexOf(' [') : -1;
  return at < 0 ? message : message.slice(0, at);
}
