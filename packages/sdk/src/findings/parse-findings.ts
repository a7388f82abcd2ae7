/**
 * The output of build, lint and format programs → what they complained about, in the order it was printed.
 *
 * Each line goes to every format in catalog order and the first finding counts. Linear in the output, and never throws:
 * unknown output is skipped, so an empty list does not mean that the program found nothing.
 */
import { FINDING_FORMATS } from './catalog.ts';
import type { CommandFinding, FindingList, LineReader, PrintedFinding } from './command-finding.ts';

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

/** CSI, OSC (never past its line), and the two- and three-character sequences. Each alternative reads forward only. */
const ESCAPES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u009b[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\r\n]*(?:\u0007|\u001b\\)?|\u001b[ -/]+[0-~]|\u001b[0-Z\\^-~]/g;
const LINE_ENDS = /\r\n|\r|\n/;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;
/** Longer ones are minified code or data, never a finding's own line. */
const MAX_LINE = 4096;

/**
 * Printed output as lines a pattern can be held against: no colours, no hyperlinks, no control characters.
 *
 * A lone carriage return ends a line too, because progress bars overwrite themselves with it.
 */
export function plainLines(output: string): readonly string[] {
  return output
    .replace(ESCAPES, '')
    .split(LINE_ENDS)
    .map((line) => line.slice(0, MAX_LINE).replace(CONTROLS, '').trimEnd());
}

const ABSOLUTE = /^(?:\/|[A-Za-z]:\/)/;
const EXTENSION = /.\.[A-Za-z][A-Za-z0-9_+-]{0,15}$/;
const BARE_NAMES = new Set(['Makefile', 'GNUmakefile', 'makefile', 'Dockerfile', 'Gemfile', 'Rakefile', 'Jenkinsfile']);
const IMPOSSIBLE = /[\u0000-\u001f"<>|*?]|:\//;
const MAX_PATH = 1024;

function slashed(path: string): string {
  return path.replaceAll('\\', '/');
}

function drive(path: string): string {
  return path.replace(/^[A-Z]:/, (letter) => letter.toLowerCase());
}

/** Undefined for an absolute path that is not below the root. */
function belowRoot(path: string, root: string | undefined): string | undefined {
  if (!ABSOLUTE.test(path)) return path;
  if (root === undefined) return undefined;
  let folder = drive(slashed(root));
  while (folder.endsWith('/')) folder = folder.slice(0, -1);
  const full = drive(path);
  return full.startsWith(`${folder}/`) ? full.slice(folder.length + 1) : undefined;
}

/** Undefined when `..` leaves the workspace. */
function withoutDots(path: string): string | undefined {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.join('/');
}

/**
 * A printed path → workspace-relative with forward slashes, or undefined when it is not a path or lies outside.
 *
 * Names decide, not the disk: a last segment without an extension is taken for prose unless it is a well-known file.
 */
export function findingPath(printed: string, root: string | undefined): string | undefined {
  if (printed.length > MAX_PATH || printed !== printed.trim()) return undefined;
  const inside = belowRoot(slashed(printed), root);
  const path = inside === undefined ? undefined : withoutDots(inside);
  if (path === undefined || IMPOSSIBLE.test(path)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return EXTENSION.test(name) || BARE_NAMES.has(name) ? path : undefined;
}
