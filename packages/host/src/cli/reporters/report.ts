/** What a validation found, and what turns it into text. */
import type { JsonObject } from '@tool-runtime/protocol';

export type ViolationLevel = 'blocking' | 'warning' | 'suggestion';

export interface ReportedViolation {
  readonly rule: string;
  readonly level: ViolationLevel;
  readonly message: string;
  /** Workspace-relative, forward slashes. */
  readonly path?: string;
  /** From 1. */
  readonly line?: number;
  /** What would pass instead, in words. */
  readonly next?: string;
  /** A proposed fix; see edit-fix.ts for those that are edits. */
  readonly fix?: JsonObject;
}

export interface ReportedRule {
  readonly id: string;
  readonly level: string;
  readonly status: 'passed' | 'failed' | 'not_applicable';
  readonly description: string;
}

export interface ValidationReport {
  readonly violations: readonly ReportedViolation[];
  readonly rules: readonly ReportedRule[];
  /** How many files were looked at. */
  readonly files: number;
  readonly duration_ms: number;
  /** What was looked at: the tree, what is staged, a range. */
  readonly scope: string;
}

export interface RenderOptions {
  /** For a terminal. Off unless asked for; formats for machines pass over it. */
  readonly colors?: boolean;
}

export interface Reporter {
  readonly name: string;
  /** Ends with a line break, or is empty when there is nothing to say. */
  render(report: ValidationReport, options?: RenderOptions): string;
}

type LevelCounts = Readonly<Record<ViolationLevel, number>>;

/** How many violations of each level a report holds. */
export function countLevels({ violations }: ValidationReport): LevelCounts {
  const counts = { blocking: 0, warning: 0, suggestion: 0 };
  for (const { level } of violations) counts[level]++;
  return counts;
}
