/** The lines by which two texts differ, as a unified diff without file names. */
import { changeBetween, type TextChange } from './text-change.ts';

const CONTEXT = 3;
/** Beyond this many comparisons the changed part is reported as one block: all old lines removed, all new lines added. */
const MAX_COMPARISONS = 4_000_000;

interface Step {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

/** Empty when the texts are the same. */
export function lineDiff(before: string, after: string): string {
  return changeDiff(changeBetween(before, after));
}

/** The same for a change that is known; it should be the smallest. */
export function changeDiff(change: TextChange): string {
  const { before, start, end, text } = change;
  const { from, to } = withContext(change);
  const now = before.slice(from, start) + text + before.slice(end, to);
  const steps = compareLines(linesOf(before.slice(from, to)), linesOf(now));
  return render(steps, 1 + lineFeeds(before, 0, from));
}

/** The changed part and the lines shown around it: texts are mostly the same, and splitting them all costs most. */
function withContext({ before, start, end }: TextChange): { readonly from: number; readonly to: number } {
  const lineStart = (at: number): number => (at > 0 ? before.lastIndexOf('\n', at - 1) + 1 : 0);
  let from = lineStart(start);
  for (let line = 0; line < CONTEXT; line++) from = lineStart(from - 1);
  let to = end;
  // One more, because the changed part may end inside of a line.
  for (let line = 0; line <= CONTEXT && to < before.length; line++) to = before.indexOf('\n', to) + 1 || before.length;
  return { from, to };
}

/** How many there are from `start` up to, not including, `end`. */
export function lineFeeds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', start); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** All lines of both, in order: kept, removed or added. */
export function compareLines(old: readonly string[], now: readonly string[]): readonly Step[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const middle = compare(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const same = (lines: readonly string[]): Step[] => lines.map((line) => ({ mark: ' ', line }));
  return [...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))];
}

/** A last line without an end differs from the same line with one. */
function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') return lines.slice(0, -1);
  return [...lines.slice(0, -1), `${lines.at(-1)}\n\\ No newline at end of file`];
}

function compare(old: readonly string[], now: readonly string[]): Step[] {
  const removed = old.map((line): Step => ({ mark: '-', line }));
  const added = now.map((line): Step => ({ mark: '+', line }));
  if (old.length * now.length > MAX_COMPARISONS) return [...removed, ...added];
  const width = now.length + 1;
  /** Length of the longest common run of lines from `row`, `column` to the end. */
  const common = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      common[row * width + column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const steps: Step[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < now.length) {
    if (old[row] === now[column]) {
      steps.push({ mark: ' ', line: old[row] ?? '' });
      row++;
      column++;
    } else if (at(row + 1, column) >= at(row, column + 1)) steps.push({ mark: '-', line: old[row++] ?? '' });
    else steps.push({ mark: '+', line: now[column++] ?? '' });
  }
  return [...steps, ...removed.slice(row), ...added.slice(column)];
}

/** `first`: number of the first line. */
function render(steps: readonly Step[], first: number): string {
  const isNear = (at: number): boolean =>
    steps.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ mark }) => mark !== ' ');
  const hunks: { readonly old: number; readonly now: number; readonly steps: Step[] }[] = [];
  let [old, now] = [first, first];
  let isOpen = false;
  for (const [at, step] of steps.entries()) {
    const isShown = isNear(at);
    if (isShown && !isOpen) hunks.push({ old, now, steps: [] });
    if (isShown) hunks.at(-1)?.steps.push(step);
    isOpen = isShown;
    if (step.mark !== '+') old++;
    if (step.mark !== '-') now++;
  }
  return hunks
    .map(({ old: oldLine, now: newLine, steps: lines }) => {
      const range = (line: number, other: Step['mark']): string => {
        const count = lines.filter(({ mark }) => mark !== other).length;
        // An empty side stands after the line before it.
        return count === 1 ? `${line}` : `${count === 0 ? line - 1 : line},${count}`;
      };
      const header = `@@ -${range(oldLine, '+')} +${range(newLine, '-')} @@\n`;
      return header + lines.map(({ mark, line }) => `${mark}${line}\n`).join('');
    })
    .join('');
}

interface Edit {
  /** Lines of the base from `start` up to, not including, `end`. */
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/**
 * Brings two changes of one text together, line by line, when they touch different lines.
 *
 * Texts are taken as bytes in latin1, so that nothing of any encoding is lost.
 *
 * Undefined when both change the same or touching lines, or when one of them is no text.
 */
export function mergeLines(base: Uint8Array, one: Uint8Array, other: Uint8Array): Buffer | undefined {
  const [from, left, right] = [base, one, other].map((bytes) => Buffer.from(bytes).toString('latin1'));
  if (from === undefined || left === undefined || right === undefined) return undefined;
  if ([from, left, right].some((text) => text.includes('\0'))) return undefined;
  const lines = linesWithEnds(from);
  const edits = [...editsOf(lines, linesWithEnds(left)), ...editsOf(lines, linesWithEnds(right))].toSorted(
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
function linesWithEnds(text: string): readonly string[] {
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
