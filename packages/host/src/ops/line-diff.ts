/** A unified diff of two versions of a small text, for people to read before they say yes. */

interface Line {
  readonly mark: ' ' | '+' | '-';
  readonly text: string;
}

const CONTEXT = 3;
/** Above it the middle is shown as removed and added whole, which is as true and only longer. */
const MAX_CELLS = 4_000_000;

/** Empty when nothing changed. Line ends show: a carriage return is written as `\r`. */
export function lineDiff(before: string, after: string, name: string): string {
  if (before === after) return '';
  const lines = compare(linesOf(before), linesOf(after));
  const hunks = hunksOf(lines);
  return [`--- ${before === '' ? '/dev/null' : name}`, `+++ ${name}`, ...hunks].join('\n');
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replaceAll('\r', '\\r'));
  if (lines.at(-1) === '') lines.pop();
  else if (lines.length > 0) lines.push(`${lines.pop()} (no line end)`);
  return lines;
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const same = (text: string): Line => ({ mark: ' ', text });
  return [
    ...before.slice(0, head).map(same),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

/** Longest common subsequence. */
function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1;
  if (before.length * width > MAX_CELLS) {
    return [...before.map((text): Line => ({ mark: '-', text })), ...after.map((text): Line => ({ mark: '+', text }))];
  }
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      const longest =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
      lengths[row * width + column] = longest;
    }
  }
  return walk(before, after, at);
}

function walk(
  before: readonly string[],
  after: readonly string[],
  at: (row: number, column: number) => number,
): Line[] {
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, now] = [before[row], after[column]];
    if (old !== undefined && old === now) {
      lines.push({ mark: ' ', text: old });
      row += 1;
      column += 1;
    } else if (old !== undefined && (now === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ mark: '-', text: old });
      row += 1;
    } else {
      lines.push({ mark: '+', text: now ?? '' });
      column += 1;
    }
  }
  return lines;
}

function hunksOf(lines: readonly Line[]): string[] {
  const shown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ mark }) => mark !== ' '),
  );
  const printed: string[] = [];
  let [old, now] = [1, 1];
  for (let index = 0; index < lines.length; index++) {
    if (shown[index] === true && shown[index - 1] !== true) printed.push(hunkHeader(lines, shown, { index, old, now }));
    const line = lines[index];
    if (line === undefined) continue;
    if (shown[index] === true) printed.push(line.mark + line.text);
    if (line.mark !== '+') old += 1;
    if (line.mark !== '-') now += 1;
  }
  return printed;
}

function hunkHeader(
  lines: readonly Line[],
  shown: readonly boolean[],
  { index, old, now }: { readonly index: number; readonly old: number; readonly now: number },
): string {
  const end = shown.indexOf(false, index);
  const hunk = lines.slice(index, end === -1 ? undefined : end);
  const oldCount = hunk.filter(({ mark }) => mark !== '+').length;
  const newCount = hunk.filter(({ mark }) => mark !== '-').length;
  return `@@ -${oldCount === 0 ? old - 1 : old},${oldCount} +${newCount === 0 ? now - 1 : now},${newCount} @@`;
}
