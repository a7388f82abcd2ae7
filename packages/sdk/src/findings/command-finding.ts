/** What a program complained about, one place at a time, and the shape of a reader of one family of formats. */

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
