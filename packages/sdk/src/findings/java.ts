/** javac (`A.java:1: error: …`, the column from the caret two lines below) and Maven's `[ERROR] A.java:[l,c] …`. */
import { type FindingFormat, type PrintedFinding, severityOf } from './command-finding.ts';

const JAVAC = /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*\.java):(\d{1,9}): (error|warning|note): (?:\[([\w-]{1,40})\] )?(.*)$/;
const MAVEN =
  /^\[(ERROR|WARNING)\] ((?:[A-Za-z]:[\\/])?[^\s:][^:]*\.(?:java|kt|scala|groovy)):\[(\d{1,9}),(\d{1,9})\] (?:\[([\w-]{1,40})\] )?(\S.*)$/;
const CARET = /^ *\^$/;

export const java: FindingFormat = {
  name: 'java',
  open: () => (lines, at) => readJavac(lines, at) ?? readMaven(lines[at] ?? ''),
};

function readJavac(lines: readonly string[], at: number): PrintedFinding | undefined {
  const [, path, line, word, code, message] = JAVAC.exec(lines[at] ?? '') ?? [];
  if (path === undefined) return undefined;
  const caret = lines[at + 2] ?? '';
  const column = CARET.test(caret) ? String(caret.length) : undefined;
  return { path, line, column, severity: severityOf(word), code, message };
}

function readMaven(text: string): PrintedFinding | undefined {
  const [, word, path, line, column, code, message] = MAVEN.exec(text) ?? [];
  if (path === undefined) return undefined;
  return { path, line, column, severity: severityOf(word), code, message };
}
