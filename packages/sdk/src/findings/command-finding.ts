/** Findings that programs print, and what the readers of their formats share. */

export const FINDING_SEVERITIES = ['error', 'warning', 'info'] as const;
export type FindingSeverity = (typeof FINDING_SEVERITIES)[number];

export interface CommandFinding {
  /** Workspace-relative, forward slashes. */
  readonly path: string;
  /** From 1, like the column. */
  readonly line?: number;
  readonly column?: number;
  readonly severity: FindingSeverity;
  /** The program's own name for the problem: `TS2322`, `no-unused-vars`, `E0308`. */
  readonly code?: string;
  /** One line. */
  readonly message: string;
}

export interface FindingList {
  readonly findings: readonly CommandFinding[];
  /** Whether more were found than are kept. */
  readonly truncated: boolean;
}

/** As printed, before any check; a field that a format lacks is undefined. */
export interface PrintedFinding {
  readonly path: string | undefined;
  readonly line?: string | undefined;
  readonly column?: string | undefined;
  readonly severity: FindingSeverity;
  readonly code?: string | undefined;
  readonly message: string | undefined;
}

/** Looks at one line, and at no more than a few around it, so that reading stays linear. */
export type LineReader = (lines: readonly string[], at: number) => PrintedFinding | undefined;

export interface FindingFormat {
  readonly name: string;
  /** A reader for one output; what it must remember from line to line lives in it. */
  open(lines: readonly string[]): LineReader;
}

const SEVERITIES: ReadonlyMap<string, FindingSeverity> = new Map([
  ['error', 'error'],
  ['fatal error', 'error'],
  ['fatal', 'error'],
  ['warning', 'warning'],
  ['warn', 'warning'],
]);

interface CodedMessage {
  readonly message: string;
  readonly code?: string;
}

const CODE = /^[A-Za-z@-][\w@/.:=+(),-]*$/;

/** Reads the severity as programs write it. Any other word (note, help, info, message, notice) is information. */
export function severityOf(word: string | undefined): FindingSeverity {
  return SEVERITIES.get((word ?? '').toLowerCase()) ?? 'info';
}

/** Splits off a code at the end of a message. Plain searches take linear time. `message (code)`, `message [code]`. */
export function splitBracketed(text: string, open: '(' | '['): CodedMessage {
  const close = open === '(' ? ')' : ']';
  const at = text.endsWith(close) ? text.lastIndexOf(` ${open}`) : -1;
  return at < 1 ? { message: text } : coded(text, at, text.slice(at + 2, -1));
}

/** `message  code`: two blanks in between. */
export function splitSpaced(text: string): CodedMessage {
  const at = text.lastIndexOf('  ');
  return at < 1 ? { message: text } : coded(text, at, text.slice(at + 2));
}

function coded(text: string, end: number, code: string): CodedMessage {
  return CODE.test(code) ? { message: text.slice(0, end).trimEnd(), code } : { message: text };
}
