/** The budgets of session, embedding program and coordinator may still refuse; the one that may be far away comes last. */
import { failure } from '../contracts/failures.ts';
import type { JudgedCall } from './state/call-types.ts';
import { isRepeatable } from './state/is-repeatable.ts';
import type { SessionParts } from './state/session-parts.ts';

export async function reserveBudget(call: JudgedCall, parts: SessionParts): Promise<void> {
  if (parts.recovery.blocked && !isRepeatable(call)) {
    throw failure(
      'recovery_repair_needed',
      'repair_needed',
      'The outcome of an earlier effect is not on record, so nothing further may change',
      { details: { gate: 'recovery', next: 'make the journal writable again, then retry' } },
    );
  }
  for (const budget of parts.budgets) {
    await budget.reserve({ sessionId: call.open.sessionId, callId: call.open.callId, tool: call.view.tool });
  }
  if (parts.coordinator !== undefined) await parts.coordinator.reserve(call);
}
