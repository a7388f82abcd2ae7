/** A run ends once: from `created` into one of three ends, and an end only ever stays what it is. */
import { contractViolation } from '../../contracts/failures.ts';

export const RUN_STATES = ['created', 'exec_failed', 'tool_result_valid', 'backfilled'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Answers the new state; throws E_VALIDATION_FAIL for a step that does not exist. */
export function nextRunState(current: RunState, next: RunState): RunState {
  const isStep = current === 'created' ? next !== 'created' : next === current;
  if (isStep) return next;
  throw contractViolation(`Run cannot change its state: ${current} to ${next}`, { from: current, to: next });
}
