/** Tells listeners, metrics, budgets and the span of the call how it ended. */
import { toToolError } from '@tool-runtime/protocol';
import { announceEnd, announceViolation } from './state/call-events.ts';
import { isOk, type OpenCall, type Outcome } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';
import { boundedToolName } from './state/tool-name.ts';

export function emitOutcome(open: OpenCall, outcome: Outcome, parts: SessionParts): void {
  const tool = boundedToolName(open.request.tool, parts);
  parts.metrics.count(parts.sessionId, tool, outcome);
  const { bytes, durationMs, status } = outcome;
  for (const budget of parts.budgets) {
    try {
      budget.spend({ sessionId: parts.sessionId, callId: open.callId, tool }, { bytes, durationMs });
    } catch (thrown) {
      // The call is over and on record: who counts it cannot change it any more.
      parts.reportUnexpected(toToolError(thrown));
    }
  }
  parts.coordinator?.spend(open.callId, { bytes, durationMs, status });
  for (const entry of outcome.errors) announceViolation(open, entry, parts);
  // A tool that runs on after its deadline may still report; nobody hears it after this.
  announceEnd(open, { status: isOk(outcome) ? 'completed' : 'failed', outcome: outcome.status }, parts);
  open.span?.end({
    status: outcome.status,
    errorCode: outcome.errors[0]?.code,
    durationMs: outcome.durationMs,
    bytes: outcome.bytes,
    filesTouched: outcome.changes.length,
  });
}
