/**
 * Unified diff of a plan, as `diff -u` and git write it, three lines of context.
 *
 * Lines are compared as bytes, so a change of line ends shows. A line that is no UTF-8 is shown with replacement signs.
 */
import type { EditPlan, PlannedFile } from './edit-plan.ts';

const CONTEXT = 3;
const NO_NEWLINE = '\\ No newline at end of file\n';

export function writeDiff(plan: Pick<EditPlan, 'files'>): string {
  return plan.files.map(fileDiff).join('');
}

function fileDiff({ path, before, after }: PlannedFile): string {
  const [old, fresh] = [before, after].map((bytes) => splitLines(bytes ?? new Uint8Array())) as [Lines, Lines];
  const hunks = groupRuns(lineRuns(old, fresh));
  if (hunks.length === 0) return '';
  const names = [
    before === null ? '/dev/null' : quoted(`a/${path}`),
    after === null ? '/dev/null' : quoted(`b/${path}`),
  ];
  const head = `--- ${names[0]}\n+++ ${names[1]}\n`;
  return head + hunks.map((hunk) => writeHunk(hunk, old, fresh)).join('');
}

/** As git does it: control characters, quotes and backslashes would be read as something else. */
function quoted(name: string): string {
  if (!/[\0-\x1f"\\\x7f]/.test(name)) return name;
  const octal = (sign: string) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`;
  return `"${name.replace(/["\\]/g, '\\$&').replace(/[\0-\x1f\x7f]/g, octal)}"`;
}

type Lines = readonly string[];

/** With their line feeds. */
function splitLines(bytes: Uint8Array): Lines {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Runs whose context would touch become one hunk. */
function groupRuns(runs: readonly LineRun[]): readonly (readonly LineRun[])[] {
  const hunks: LineRun[][] = [];
  for (const run of runs) {
    const last = hunks.at(-1)?.at(-1);
    if (last !== undefined && run.oldStart - last.oldEnd <= 2 * CONTEXT) hunks.at(-1)?.push(run);
    else hunks.push([run]);
  }
  return hunks;
}

function writeHunk(runs: readonly LineRun[], old: readonly string[], fresh: readonly string[]): string {
  const [first, last] = [runs[0] as LineRun, runs.at(-1) as LineRun];
  const lead = Math.min(CONTEXT, first.oldStart);
  const tail = Math.min(CONTEXT, old.length - last.oldEnd);
  const [oldFrom, oldTo] = [first.oldStart - lead, last.oldEnd + tail];
  const [newFrom, newTo] = [first.newStart - lead, last.newEnd + tail];
  let body = '';
  let at = oldFrom;
  for (const run of runs) {
    body += marked(' ', old.slice(at, run.oldStart));
    body += marked('-', old.slice(run.oldStart, run.oldEnd));
    body += marked('+', fresh.slice(run.newStart, run.newEnd));
    at = run.oldEnd;
  }
  body += marked(' ', old.slice(at, oldTo));
  return `@@ -${range(oldFrom, oldTo)} +${range(newFrom, newTo)} @@\n${body}`;
}

function marked(sign: string, lines: readonly string[]): string {
  return lines.map((line) => (line.endsWith('\n') ? sign + line : `${sign}${line}\n${NO_NEWLINE}`)).join('');
}

/** An empty range names the line before it. */
function range(from: number, to: number): string {
  const count = to - from;
  if (count === 1) return String(from + 1);
  return `${count === 0 ? from : from + 1},${count}`;
}

interface LineRun {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

const MAX_DISTANCE = 2_000;

/**
 * Which lines differ between two texts: Myers' greedy algorithm on what is left when equal ends are cut off.
 *
 * Texts that differ in more lines than the limit are one single run: right, only longer than it could be.
 */
function lineRuns(old: readonly string[], fresh: readonly string[]): readonly LineRun[] {
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let [oldEnd, newEnd] = [old.length, fresh.length];
  while (oldEnd > head && newEnd > head && old[oldEnd - 1] === fresh[newEnd - 1]) {
    oldEnd--;
    newEnd--;
  }
  if (head === oldEnd && head === newEnd) return [];
  const matches = matchLines(old.slice(head, oldEnd), fresh.slice(head, newEnd));
  return runsBetween(matches, { head, oldEnd, newEnd });
}

interface Frame {
  readonly head: number;
  readonly oldEnd: number;
  readonly newEnd: number;
}

function runsBetween(matches: readonly (readonly [number, number])[], { head, oldEnd, newEnd }: Frame): LineRun[] {
  const runs: LineRun[] = [];
  let [oldAt, newAt] = [head, head];
  for (const [x, y] of [...matches.map(([a, b]) => [a + head, b + head] as const), [oldEnd, newEnd] as const]) {
    if (x > oldAt || y > newAt) runs.push({ oldStart: oldAt, oldEnd: x, newStart: newAt, newEnd: y });
    [oldAt, newAt] = [x + 1, y + 1];
  }
  return runs;
}

/** Pairs of equal lines on a shortest way from one text to the other. */
function matchLines(old: readonly string[], fresh: readonly string[]): readonly (readonly [number, number])[] {
  const limit = Math.min(old.length + fresh.length, MAX_DISTANCE);
  const offset = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  for (let distance = 0; distance <= limit; distance++) {
    trace.push(furthest.slice(offset - distance - 1, offset + distance + 2));
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const down = furthest[offset + diagonal + 1] ?? 0;
      const right = furthest[offset + diagonal - 1] ?? 0;
      const goesDown = diagonal === -distance || (diagonal !== distance && right < down);
      let x = goesDown ? down : right + 1;
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x++;
      furthest[offset + diagonal] = x;
      if (x >= old.length && x - diagonal >= fresh.length) return walkBack(trace, old.length, fresh.length);
    }
  }
  return [];
}

function walkBack(trace: readonly Int32Array[], oldLength: number, newLength: number): (readonly [number, number])[] {
  const matches: (readonly [number, number])[] = [];
  let [x, y] = [oldLength, newLength];
  for (let distance = trace.length - 1; distance >= 0; distance--) {
    const row = trace[distance] as Int32Array;
    // A row begins at diagonal -distance - 1.
    const reached = (diagonal: number) => row[diagonal + distance + 1] ?? 0;
    const diagonal = x - y;
    const goesDown = diagonal === -distance || (diagonal !== distance && reached(diagonal - 1) < reached(diagonal + 1));
    const previous = goesDown ? diagonal + 1 : diagonal - 1;
    const startX = distance === 0 ? 0 : reached(previous) + (goesDown ? 0 : 1);
    while (x > startX && y > startX - diagonal) matches.push([--x, --y]);
    if (distance > 0) [x, y] = [reached(previous), reached(previous) - previous];
  }
  return matches.reverse();
}
