/**
 * Brings two changes of one text together, line by line, when they touch different lines.
 *
 * Texts are taken as bytes in latin1, so that nothing of any encoding is lost.
 */
import { compareLines } from './line-diff.ts';

interface Edit {
  /** Lines of the base from `start` up to, not including, `end`. */
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Undefined when both change the same or touching lines, or when one of them is no text. */
export function mergeLines(base: Uint8Array, one: Uint8Array, other: Uint8Array): Buffer | undefined {
  const [from, left, right] = [base, one, other].map((bytes) => Buffer.from(bytes).toString('latin1'));
  if (from === undefined || left === undefined || right === undefined) return undefined;
  if ([from, left, right].some((text) => text.includes('\0'))) return undefined;
  const lines = linesOf(from);
  const edits = [...editsOf(lines, linesOf(left)), ...editsOf(lines, linesOf(right))].toSorted(
    (first, second) => first.start - second.start || first.end - second.end,
  );
  const merged: string[] = [];
  let at = 0;
  let last: Edit | undefined;
  for (const edit of edits) {
    if (last !== undefined && isSame(last, edit)) continue;
    if (last !== undefined && edit.start <= last.end) return undefined;
    merged.push(...lines.slice(at, edit.start), ...edit.lines);
    at = edit.end;
    last = edit;
  }
  return Buffer.from([...merged, ...lines.slice(at)].join(''), 'latin1');
}

/** Each with its end. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function editsOf(base: readonly string[], changed: readonly string[]): readonly Edit[] {
  const edits: Edit[] = [];
  let at = 0;
  let open: { start: number; end: number; lines: string[] } | undefined;
  for (const { mark, line } of compareLines(base, changed)) {
    if (mark === ' ') {
      if (open !== undefined) edits.push(open);
      open = undefined;
      at++;
      continue;
    }
    open ??= { start: at, end: at, lines: [] };
    if (mark === '+') open.lines.push(line);
    else open.end = ++at;
  }
  return open === undefined ? edits : [...edits, open];
}

function isSame(one: Edit, other: Edit): boolean {
  return one.start === other.start && one.end === other.end && one.lines.join('') === other.lines.join('');
}
