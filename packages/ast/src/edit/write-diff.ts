/**
 * Unified diff of a plan, as `diff -u` and git write it, three lines of context.
 *
 * Lines are compared as bytes, so a change of line ends shows. A line that is no UTF-8 is shown with replacement signs.
 */
import type { EditPlan, PlannedFile } from './edit-plan.ts';
import { type LineRun, lineRuns } from './line-runs.ts';

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
