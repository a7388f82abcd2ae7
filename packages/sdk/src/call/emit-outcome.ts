/** Tells listeners, metrics and budgets how the call ended. */
import { type CallRequest, isOk, type OpenCall, type Outcome } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';

/** Calls to tools that do not exist are counted together: their names come from outside and are not bounded. */
const UNKNOWN_TOOL = '(unknown)';

export function emitOutcome(open: OpenCall, outcome: Outcome, parts: SessionParts): void {
  // A tool that runs on after its deadline may still report; nobody hears it after the answer.
  open.progress.ended = true;
  const tool = parts.tools.has(open.request.tool) ? open.request.tool : UNKNOWN_TOOL;
  const ok = isOk(outcome);
  const errorCode = outcome.errors[0]?.code;
  parts.metrics.count({
    sessionId: parts.sessionId,
    tool,
    ok,
    durationMs: outcome.durationMs,
    bytes: outcome.bytes,
    filesTouched: outcome.changes.length,
    ...(errorCode === undefined ? {} : { errorCode }),
  });
  for (const budget of parts.budgets) {
    budget.spend(
      { sessionId: parts.sessionId, callId: open.callId, tool },
      { bytes: outcome.bytes, durationMs: outcome.durationMs },
    );
  }
  announce(open.request, parts, { status: ok ? 'completed' : 'failed', outcome: outcome.status }, 100);
}

/** `CallStatusChanged`: pending → in_progress → completed or failed, for every call, refused ones included. */
export function announce(
  request: CallRequest,
  parts: SessionParts,
  data: { readonly status: string; readonly phase?: string; readonly outcome?: string },
  pct = 0,
): void {
  if (!parts.events.active) return;
  parts.events.emit(parts.sessionId, {
    type: 'EventMessage',
    event: 'CallStatusChanged',
    request_id: request.requestId,
    progress: { pct, message: data.phase ?? data.status },
    data: { tool: request.tool, ...data },
  });
}
