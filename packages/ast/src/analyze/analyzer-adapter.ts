/**
 * What an adapter produces from an analyzer's output: findings whose places are still in the analyzer's own units.
 *
 * Turning them into UTF-16 columns may need the source, which is read once for all places of a file (place/).
 */
import type { ByteSpan } from '../contracts/facts.ts';
import type { AnalyzerNote, FindingLevel } from './analyzer-finding.ts';

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
