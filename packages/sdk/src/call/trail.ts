/** The records of one call, collected while it is judged and written together: fewer commits, same order. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { DecisionRecord, RequestedRecord } from '../contracts/journal.ts';
import type { JudgedCall, OpenCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';

/** States what was asked, once; a later round of judgement (edited arguments) shows in the hash of the intent. */
export function noteRequested(
  open: OpenCall,
  asked: { readonly argsHash: string; readonly argsSummary: string; readonly details?: JsonObject | undefined },
  parts: SessionParts,
): void {
  if (open.progress.requested) return;
  open.progress.requested = true;
  const { request } = open;
  const key = request.idempotencyKey ?? request.dedupeKey;
  const record: RequestedRecord = {
    kind: 'requested',
    call_id: open.callId,
    session_id: open.sessionId,
    at_ms: open.startedAt,
    request_id: request.requestId,
    tool: request.tool,
    args_hash: asked.argsHash,
    args_summary: asked.argsSummary,
    actor: parts.actor,
    client: parts.client,
    ...(key === undefined ? {} : { idempotency_key: key }),
    ...(asked.details === undefined ? {} : { details: asked.details }),
  };
  open.trail.push(record);
}

export function noteDecision(open: OpenCall, decision: JudgedCall['decision'], parts: SessionParts): void {
  const record: DecisionRecord = {
    kind: 'decision',
    call_id: open.callId,
    session_id: open.sessionId,
    at_ms: parts.clock.now(),
    ...decision,
  };
  open.trail.push(record);
}

/** Writes what is waiting, after any marker an earlier failure left behind. On failure the trail stays. */
export async function writeTrail(open: OpenCall, parts: SessionParts): Promise<void> {
  await parts.journal.append(parts.recovery.prefix(open.trail));
  open.trail.length = 0;
  parts.recovery.written();
}
