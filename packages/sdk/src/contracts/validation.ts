/** Rules on request: over the work tree, what is staged, or a range of commits. */
import type { Enforcement } from './classes.ts';
import type { ChangeScope } from './git.ts';
import type { Violation } from './rule.ts';

export interface ValidationRequest {
  /** Rule ids; undefined: all that are in force. */
  readonly rules?: readonly string[];
  /** Only rules of this level. */
  readonly enforcement?: Enforcement;
  /** Only findings in files that match one of these globs. */
  readonly globs?: readonly string[];
  readonly scope: ChangeScope;
  /** Start of a range, as the caller wrote it. */
  readonly since?: string;
  readonly message?: string;
  /** For `staged`: name of another index file in the git folder. */
  readonly index?: string;
  readonly signal: AbortSignal;
}

export interface FoundViolation extends Violation {
  readonly rule: string;
  readonly level: Enforcement;
}

export interface RuleVerdict {
  readonly id: string;
  readonly level: Enforcement;
  readonly status: 'passed' | 'failed' | 'not_applicable';
  readonly description: string;
}

export interface ValidationReport {
  readonly violations: readonly FoundViolation[];
  readonly rules: readonly RuleVerdict[];
  /** Files that were looked at. */
  readonly files: number;
  readonly scope: ChangeScope;
}

export interface Validation {
  run(request: ValidationRequest): Promise<ValidationReport>;
}
