/** What an operation is given to plan with, and what it returns in addition to the drafts it changed. */
import type { LspManager } from '../lsp/language-servers.ts';
import type { PatternMatcher } from '../rewrite/pattern-matcher.ts';
import type { Draft } from './draft.ts';
import type { EditDesk } from './edit-desk.ts';
import { refuseEdit } from './edit-failures.ts';
import type { OperationOf, SingleOperation } from './edit-operations.ts';
import type { Confidence, Residual } from './edit-plan.ts';

export interface Work {
  readonly desk: EditDesk;
  readonly servers?: LspManager | undefined;
  readonly patterns: PatternMatcher;
  /** How long a server may take, start included. */
  readonly serverTimeoutMs: number;
  warn(warning: string): void;
}

export interface Outcome {
  readonly confidence: Confidence;
  readonly renamedIds?: Readonly<Record<string, string>>;
  /** File that declarations went to. */
  readonly movedTo?: string;
  readonly residual?: readonly Residual[];
}

export type Planner<Name extends SingleOperation['operation']> = (
  operation: OperationOf<Name>,
  work: Work,
) => Promise<Outcome>;

/** Throws for a file that is generated or vendored, unless that is allowed. */
export function requireEditable(
  { facts, path }: Draft,
  { allow_generated }: { readonly allow_generated: boolean },
): void {
  if (!facts.generated || allow_generated) return;
  throw refuseEdit('generated_file', `File is generated or vendored: ${path}`, {
    path,
    next: 'change what it is generated from, or pass allow_generated',
  });
}
