/** How a run is checked: by what was reported and by how the program ended, never by what the tool calls it. */
import type { RunEntry, RunStatus } from '../../contracts/external.ts';
import { contractViolation } from '../../contracts/failures.ts';

export interface RunFindings {
  readonly errors: readonly RunEntry[];
  readonly warnings: readonly RunEntry[];
  readonly exitCode: number;
}

/** Errors or a non-zero exit: failure; else warnings: partial; else success. */
export function computeStatus({ errors, warnings, exitCode }: RunFindings): RunStatus {
  if (errors.length > 0 || exitCode !== 0) return 'failure';
  return warnings.length > 0 ? 'partial' : 'success';
}

/** 0–9 belong to tools. Anything else becomes 1, because 10–19 would read as the wrapper's own. */
export function normalizeExitCode(code: number): { readonly exitCode: number; readonly toolExitCode: number } {
  const isTools = Number.isInteger(code) && code >= 0 && code <= 9;
  return { exitCode: isTools ? code : 1, toolExitCode: code };
}

/** A run ends once: it goes from `created` to one of three ends and stays there. */
export const RUN_STATES = ['created', 'exec_failed', 'tool_result_valid', 'backfilled'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Answers the new state; throws E_VALIDATION_FAIL for a step that does not exist. */
export function nextRunState(current: RunState, next: RunState): RunState {
  const isStep = current === 'created' ? next !== 'created' : next === current;
  if (isStep) return next;
  throw contractViolation(`Run cannot change its state: ${current} to ${next}`, { from: current, to: next });
}
