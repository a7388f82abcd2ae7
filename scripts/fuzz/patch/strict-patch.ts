/**
 * Unified diffs by the book: right counts, right lines, one file, nothing tolerated. Slow and simple, to compare with: what
 * this applies, every other implementation must apply in the same way.
 */

/** One byte a character, so that nothing is lost. */
type Text = string;

interface StrictHunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly oldLines: readonly Text[];
  readonly newLines: readonly Text[];
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: [^\r\n]*)?$/;
const MAX_LINES = 2_000;

/** Undefined for what is not by the book. */
export function readStrictly(diff: Text): readonly StrictHunk[] | undefined {
  const lines = diff.split('\n');
  if (lines.pop() !== '' || lines.length > MAX_LINES) return undefined;
  if (!/^--- a\/f$/.test(lines.shift() ?? '') || !/^\+\+\+ b\/f$/.test(lines.shift() ?? '')) return undefined;
  const hunks: StrictHunk[] = [];
  while (lines.length > 0) {
    const hunk = takeHunk(lines);
    if (hunk === undefined) return undefined;
    hunks.push(hunk);
  }
  return hunks.length === 0 || !areConsistent(hunks) ? undefined : hunks;
}

function takeHunk(lines: Text[]): StrictHunk | undefined {
  const found = HEADER.exec(lines.shift() ?? '');
  if (found === null) return undefined;
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = found;
  const [oldLines, newLines]: [Text[], Text[]] = [[], []];
  let sides: readonly Text[][] = [];
  while (oldLines.length < Number(oldCount) || newLines.length < Number(newCount) || lines[0]?.startsWith('\\')) {
    const line = lines.shift() ?? '';
    if (line === '\\ No newline at end of file') {
      if (sides.length === 0) return undefined;
      for (const side of sides) side.push(withoutNewline(side.pop() ?? ''));
      sides = [];
      continue;
    }
    const [isOld, isNew] = [/^[ -]/.test(line), /^[ +]/.test(line)];
    if (!isOld && !isNew) return undefined;
    sides = [...(isOld ? [oldLines] : []), ...(isNew ? [newLines] : [])];
    for (const side of sides) side.push(`${line.slice(1)}\n`);
  }
  if (oldLines.length !== Number(oldCount) || newLines.length !== Number(newCount)) return undefined;
  if (oldLines.length + newLines.length === 0) return undefined;
  return { oldStart: Number(oldStart), newStart: Number(newStart), oldLines, newLines };
}

function withoutNewline(line: Text): Text {
  return line.endsWith('\n') ? line.slice(0, -1) : line;
}

/** New line numbers follow from the old ones, hunks come in order, and only the last line of all can lack its newline. */
function areConsistent(hunks: readonly StrictHunk[]): boolean {
  let [shift, from] = [0, 0];
  for (const { oldStart, newStart, oldLines, newLines } of hunks) {
    const start = oldLines.length === 0 ? oldStart + 1 : oldStart;
    const begins = newLines.length === 0 ? newStart + 1 : newStart;
    if (start < 1 || start - 1 < from || begins !== start + shift) return false;
    from = start - 1 + oldLines.length;
    shift += newLines.length - oldLines.length;
  }
  const sides = hunks.flatMap(({ oldLines, newLines }) => [oldLines, newLines]);
  const isLast = (side: readonly Text[]): boolean => side === sides.at(-1) || side === sides.at(-2);
  return sides.every((side) =>
    side.every((line, at) => line.endsWith('\n') || (isLast(side) && at === side.length - 1)),
  );
}

/** Undefined when some line is not where the diff says. */
export function applyStrictly(before: Text, hunks: readonly StrictHunk[]): Text | undefined {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const after: Text[] = [];
  let at = 0;
  for (const { oldStart, oldLines, newLines } of hunks) {
    const start = oldLines.length === 0 ? oldStart : oldStart - 1;
    if (start > lines.length) return undefined;
    after.push(...lines.slice(at, start));
    for (const [index, line] of oldLines.entries()) if (lines[start + index] !== line) return undefined;
    const isEnd = newLines.at(-1)?.endsWith('\n') === false || oldLines.at(-1)?.endsWith('\n') === false;
    at = start + oldLines.length;
    if (isEnd && at !== lines.length) return undefined;
    if (after.at(-1)?.endsWith('\n') === false) return undefined;
    after.push(...newLines);
  }
  if (at < lines.length && after.at(-1)?.endsWith('\n') === false) return undefined;
  return [...after, ...lines.slice(at)].join('');
}

/** The outcome of a single hunk that fits in exactly one place, wherever that is; undefined for none and several. */
export function applyElsewhere(before: Text, hunks: readonly StrictHunk[]): Text | undefined {
  const [hunk, ...more] = hunks;
  if (hunk === undefined || more.length > 0 || hunk.oldLines.length === 0) return undefined;
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const places = lines
    .map((_, at) => applyStrictly(before, [{ ...hunk, oldStart: at + 1 }]))
    .filter((after) => after !== undefined);
  return places.length === 1 ? places[0] : undefined;
}
