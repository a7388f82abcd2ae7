/**
 * The output of build, lint and format programs → what they complained about, in the order it was printed.
 *
 * Each line goes to every format in catalog order and the first finding counts. Linear in the output, and never throws:
 * what is not understood is left out, so an empty list does not mean that the program was content.
 */
import { FINDING_FORMATS } from './catalog.ts';
import type { CommandFinding, FindingList, LineReader, PrintedFinding } from './command-finding.ts';
import { findingPath } from './finding-path.ts';
import { plainLines } from './plain-lines.ts';

export interface ParseFindingsOptions {
  /** Absolute path of the workspace as the program saw it. Without it absolute paths are left out. */
  readonly root?: string;
}

export const MAX_FINDINGS = 200;
const MAX_MESSAGE = 1000;
const MAX_CODE = 100;

export function parseFindings(output: string, { root }: ParseFindingsOptions = {}): FindingList {
  const lines = plainLines(output);
  const readers = FINDING_FORMATS.map((format) => format.open(lines));
  const kept = new Map<string, CommandFinding>();
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] === '') continue;
    const finding = firstFinding(readers, { lines, at, root });
    if (finding === undefined) continue;
    const key = JSON.stringify(finding);
    if (kept.has(key)) continue;
    if (kept.size === MAX_FINDINGS) return { findings: [...kept.values()], truncated: true };
    kept.set(key, finding);
  }
  return { findings: [...kept.values()], truncated: false };
}

interface Spot {
  readonly lines: readonly string[];
  readonly at: number;
  readonly root: string | undefined;
}

function firstFinding(readers: readonly LineReader[], { lines, at, root }: Spot): CommandFinding | undefined {
  for (const read of readers) {
    const printed = read(lines, at);
    const finding = printed === undefined ? undefined : judged(printed, root);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

function judged(printed: PrintedFinding, root: string | undefined): CommandFinding | undefined {
  const path = printed.path === undefined ? undefined : findingPath(printed.path, root);
  const message = printed.message?.trim() ?? '';
  if (path === undefined || message === '') return undefined;
  const line = place(printed.line);
  const column = line === undefined ? undefined : place(printed.column);
  return {
    path,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    severity: printed.severity,
    ...(printed.code === undefined || printed.code === '' ? {} : { code: printed.code.slice(0, MAX_CODE) }),
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message,
  };
}

/** Programs print 0 where they know no place. */
function place(digits: string | undefined): number | undefined {
  const number = digits === undefined ? 0 : Number(digits);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
