/** The one way a result gets into its folder: once, whatever asks for it how often. */
import type { HeldFolder } from '../../platform/descriptors/held-folder.ts';
import { keepOriginal, writeResultAtomic } from '../../platform/runs/run-result-file.ts';
import { nextRunState, type RunState } from '../protocol/run-state.ts';
import type { AcceptedResult } from '../result/accept-result.ts';
import { resultText } from '../result/result-text.ts';

export interface RunRecord {
  readonly state: RunState;
  /** Writes nothing when the run has ended this way already; throws E_VALIDATION_FAIL when it ended another way. */
  settle(accepted: AcceptedResult): void;
}

/** A write that fails leaves the run open, so that another can be tried. */
export function createRunRecord(folder: HeldFolder): RunRecord {
  let state: RunState = 'created';
  return {
    get state() {
      return state;
    },
    settle(accepted) {
      const next = nextRunState(state, accepted.state);
      if (next === state) return;
      if (accepted.keepOriginal) keepOriginal(folder);
      if (accepted.rewrite) writeResultAtomic(folder, resultText(accepted.result));
      state = next;
    },
  };
}
