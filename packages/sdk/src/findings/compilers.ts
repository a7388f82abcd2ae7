/**
 * `file:line:column: error: message`, the way of gcc and clang that many others follow (rustc's short form, swiftc).
 *
 * The word for the severity is what tells such a line from a log with a time in it.
 */
import { type FindingFormat, type PrintedFinding, severityOf, splitBracketed } from './command-finding.ts';

const LINE =
  /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d{1,9})(?::(\d{1,9}))?: (fatal error|error|warning|note|remark)(?:\[([\w:-]{1,80})\])?: (.*)$/;

export const compilers: FindingFormat = { name: 'compilers', open: () => (lines, at) => readLine(lines[at] ?? '') };

function readLine(text: string): PrintedFinding | undefined {
  const [, path, line, column, word, printedCode, rest = ''] = LINE.exec(text) ?? [];
  if (path === undefined) return undefined;
  const severity = severityOf(word);
  if (printedCode !== undefined) return { path, line, column, severity, code: printedCode, message: rest };
  const { message, code } = splitBracketed(rest, '[');
  // Only what names a switch is a code: `[first use]` is part of the sentence.
  const isSwitch = code?.startsWith('-') === true;
  return { path, line, column, severity, code: isSwitch ? code : undefined, message: isSwitch ? message : rest };
}
