/**
 * What an adapter produces from an analyzer's output: findings whose places are still in the analyzer's own units.
 *
 * Turning them into UTF-16 columns may need the source, which is read once for all places of a file (place/).
 */
import type { ByteSpan } from '../contracts/facts.ts';

export type ColumnUnit = 'utf16' | 'code_point' | 'byte';

/** Both from 1; the column in the unit of the place it belongs to. An infinite column is the end of the line. */
export interface Point {
  readonly line: number;
  readonly col: number;
}

/** Whole lines of the file as the analyzer saw them. Places of one file share the object. */
export interface Excerpt {
  readonly line: number;
  readonly text: string;
}

export interface RawPlace {
  readonly unit: ColumnUnit;
  readonly start?: Point;
  readonly end?: Point;
  readonly bytes?: ByteSpan;
  /** Offsets from the start of the file in `unit`. */
  readonly offsets?: ByteSpan;
  readonly excerpt?: Excerpt;
  /** A byte order mark is not counted. */
  readonly skipsMark?: boolean;
}

export interface RawEdit {
  readonly file: string;
  readonly place: RawPlace;
  readonly newText: string;
}

export interface RawFinding {
  readonly provider: string;
  readonly rule: string;
  readonly level: FindingLevel;
  readonly message: string;
  readonly file: string;
  readonly place: RawPlace;
  readonly edits?: readonly RawEdit[];
  readonly docs?: string;
}

export interface RawAnalysis {
  readonly findings: readonly RawFinding[];
  readonly notes: readonly AnalyzerNote[];
}

export interface AdapterContext {
  /** Workspace-relative path of a path or file URI as an analyzer prints it; undefined outside the workspace. */
  toRelative(pathOrUri: string): string | undefined;
  /** Stands in every finding instead of the name the output gives. */
  readonly provider?: string;
}

export interface AnalyzerAdapter {
  readonly format: string;
  /** Throws E_VALIDATION_FAIL, and nothing else, when the text as a whole is not of this format. */
  read(text: string, context: AdapterContext): RawAnalysis;
}

/**
 * The one form in which findings of all outside analyzers leave this folder.
 *
 * Lines and columns start at 1 and columns count UTF-16 units, regardless of what the analyzer counted; a byte order mark counts
 * as one unit, as nearly all analyzers have it. Ends are exclusive.
 */
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
interface AnalyzerFix {
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
