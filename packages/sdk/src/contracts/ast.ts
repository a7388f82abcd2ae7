/** The code-intelligence port. The engine lives in its own package; without it the port is absent and rules that need it fail closed. */
import type { Violation } from './rule.ts';
import type { FileChange, MaybePromise } from './workspace.ts';

export interface AstIndex {
  /** Whether the index parses files of this name. */
  covers(path: string): boolean;
  /** Brings the index in line with files that changed. */
  refresh(changes: readonly FileChange[], signal: AbortSignal): MaybePromise<void>;
  /** Syntax errors of one file as it is on disk now. */
  parseProblems(path: string, signal: AbortSignal): MaybePromise<readonly Violation[]>;
}
