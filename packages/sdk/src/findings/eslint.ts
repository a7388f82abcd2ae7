/** eslint's stylish, unix and compact formatters. In stylish the file name is on a line above its rows, so it is remembered. */
import {
  type FindingFormat,
  type LineReader,
  type PrintedFinding,
  severityOf,
  splitBracketed,
  splitSpaced,
} from './command-finding.ts';

const ROW = /^\s+(\d{1,9}):(\d{1,9})\s+(error|warning)\s+(\S.*)$/;
const UNIX = /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*):(\d{1,9}):(\d{1,9}): (.*) \[(Error|Warning)(?:\/([^\]\s]+))?\]$/;
const COMPACT =
  /^((?:[A-Za-z]:[\\/])?[^\s:][^:]*): line (\d{1,9}), col (\d{1,9}), (Error|Warning|Info|error|warning|info) - (.*)$/;

export const eslint: FindingFormat = {
  name: 'eslint',
  open() {
    const readRow = openStylish();
    return (lines, at) => readRow(lines, at) ?? readUnix(lines[at] ?? '') ?? readCompact(lines[at] ?? '');
  },
};

/** Rows end with an empty line or with anything that is no row. */
function openStylish(): LineReader {
  let heading: { readonly path: string; readonly upTo: number } | undefined;
  return (lines, at) => {
    const text = lines[at] ?? '';
    const [, line, column, word, rest] = ROW.exec(text) ?? [];
    if (rest === undefined) {
      heading = text === '' || text.startsWith(' ') ? undefined : { path: text, upTo: at + 1 };
      return undefined;
    }
    if (heading === undefined || heading.upTo !== at) return undefined;
    heading = { path: heading.path, upTo: at + 1 };
    return { path: heading.path, line, column, severity: severityOf(word), ...splitSpaced(rest) };
  };
}

function readUnix(text: string): PrintedFinding | undefined {
  const [, path, line, column, message, word, code] = UNIX.exec(text) ?? [];
  if (path === undefined) return undefined;
  return { path, line, column, severity: severityOf(word), code, message };
}

function readCompact(text: string): PrintedFinding | undefined {
  const [, path, line, column, word, rest = ''] = COMPACT.exec(text) ?? [];
  if (path === undefined) return undefined;
  return { path, line, column, severity: severityOf(word), ...splitBracketed(rest, '(') };
}
