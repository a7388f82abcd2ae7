/**
 * The one form in which findings of all outside analyzers leave this folder.
 *
 * Lines and columns start at 1 and columns count UTF-16 units, regardless of what the analyzer counted; a byte order mark counts
 * as one unit, as nearly all analyzers have it. Ends are exclusive.
 */
import type { ByteSpan } from '../contracts/facts.ts';

export type FindingLevel = 'error' | 'warning' | 'note';

export interface AnalyzerEdit {
  /** Workspace-relative. */
  readonly file: string;
  readonly startLine: number;
  readonly startCol: number;
  readonly endLine: number;
  readonly endCol: number;
  readonly newText: string;
}

/** All edits or none. Never applied here; before applying them, check them against the file as it is then. */
export interface AnalyzerFix {
  readonly edits: readonly AnalyzerEdit[];
}

export interface AnalyzerFinding {
  readonly provider: string;
  readonly rule: string;
  readonly level: FindingLevel;
  readonly message: string;
  /** Workspace-relative. */
  readonly file: string;
  /** Line 1, column 1 without an end where the analyzer named only the file. */
  readonly line: number;
  readonly col: number;
  readonly endLine?: number;
  readonly endCol?: number;
  /** Only where the analyzer itself counted bytes of the file on disk. */
  readonly span?: ByteSpan;
  readonly fix?: AnalyzerFix;
  /** Web address of the rule's description. */
  readonly docs?: string;
}

/**
 * `outside`: files beyond the workspace, dropped. `no_file`: names no file, dropped. `unreadable`: entries of a wrong
 * shape, dropped. `suppressed`: switched off by a comment, dropped. `columns`: kept, but the source could not be had to
 * convert columns. `fix`: kept without the fix, whose place is not certain. `tool`: what the analyzer says of its own run.
 */
export type NoteKind = 'outside' | 'no_file' | 'unreadable' | 'suppressed' | 'columns' | 'fix' | 'tool';

/** What happened on the way that the findings do not show. */
export interface AnalyzerNote {
  readonly kind: NoteKind;
  readonly count: number;
  readonly message: string;
}

export interface Analysis {
  /** By file, line, column, rule. */
  readonly findings: readonly AnalyzerFinding[];
  readonly notes: readonly AnalyzerNote[];
}
