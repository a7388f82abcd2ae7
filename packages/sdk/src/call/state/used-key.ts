/** How a key that was used before is refused. */
import { ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../../contracts/failures.ts';
import type { KeyState } from '../../contracts/journal.ts';

/** Passes `new` and `done`; throws for a key whose outcome is unknown or whose arguments differ. */
export function refuseUsedKey(state: KeyState): void {
  if (state.state === 'pending') {
    throw policyDenial(`A call with this key has no known outcome yet: ${state.callId}`, {
      details: {
        gate: 'idempotency',
        reason: 'outcome_unknown',
        call_id: state.callId,
        next: 'wait for that call and send it again; if it ended without an answer, an operator can resolve it',
      },
    });
  }
  if (state.state === 'conflict') {
    throw new ToolError('E_VALIDATION_FAIL', `This key was used with other arguments: ${state.callId}`, {
      details: {
        gate: 'idempotency',
        reason: 'key_conflict',
        call_id: state.callId,
        next: 'use a new key for a new call',
      },
    });
  }
}

/** The process of that call died, and what it left does not show whether it happened. */
export function outcomeUnknown(callId: string, why: string): ToolError {
  return policyDenial(`The process of the call with this key died, and its outcome is unknown: ${callId}`, {
    details: {
      gate: 'idempotency',
      reason: 'outcome_unknown',
      call_id: callId,
      why,
      next: `look at what it left, then tool-runtime audit resolve ${callId} --as completed or --as not_started`,
    },
  });
}

export const NOT_RECORDED = 'answer_not_kept';

/** Throws when the call belongs to a batch that is sent again, and its answer is not kept any more. */
export function refuseUnrecorded({ recordOf }: { readonly recordOf?: string }): void {
  if (recordOf === undefined) return;
  throw policyDenial(`The answer to this call of a batch is not on record: ${recordOf}`, {
    details: {
      gate: 'idempotency',
      reason: NOT_RECORDED,
      next: 'look at the files, or at change_show; send a new batch for what is missing',
    },
  });
}

/** Two calls with one key ran side by side and the other finished first: a retry gets its answer. */
export function keyTakenMeanwhile(callId: string): ToolError {
  return policyDenial(`Another call with this key finished meanwhile: ${callId}`, {
    details: {
      gate: 'idempotency',
      reason: 'key_taken',
      call_id: callId,
      next: 'send the call again to get its answer',
    },
  });
}
