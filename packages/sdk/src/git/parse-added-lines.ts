/**
 * Reads a diff made with `-U0 --src-prefix=a/ --dst-prefix=b/` into the lines it adds.
 *
 * Counted by the hunk headers, so that an added line that looks like a header stays a line.
 */
import type { AddedLine } from '../contracts/git.ts';
import { unquoteName } from './unquote-name.ts';

const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

export function parseAddedLines(diff: string): readonly AddedLine[] {
  const added: AddedLine[] = [];
  const lines = diff.split('\n');
  let path = '';
  for (let at = 0; at < lines.length; at++) {
    const text = lines[at] ?? '';
    if (text.startsWith('+++ ')) path = newName(text.slice(4));
    const hunk = HUNK.exec(text);
    if (hunk === null) continue;
    let toRemove = Number(hunk[1] ?? 1);
    let toAdd = Number(hunk[3] ?? 1);
    let line = Number(hunk[2]);
    while ((toRemove > 0 || toAdd > 0) && at + 1 < lines.length) {
      const body = lines[++at] ?? '';
      if (body.startsWith('-')) toRemove--;
      else if (body.startsWith('+')) {
        toAdd--;
        added.push({ path, line: line++, text: body.slice(1).replace(/\r$/, '') });
      }
    }
  }
  return added;
}

/** `b/name`; a tab ends a name with spaces. */
function newName(written: string): string {
  return unquoteName(written.replace(/\t$/, '')).replace(/^b\//, '');
}
