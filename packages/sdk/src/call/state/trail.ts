/** The records of one call, collected while it is checked and written together: fewer commits, same order. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { DecisionRecord, JournalRecord, RequestedRecord } from '../../contracts/journal.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import type { JudgedCall, OpenCall } from './call-types.ts';
import type { IdentityParts, RecordingParts } from './session-parts.ts';

/** States what was asked, once; a later round of checks (edited arguments) shows in the hash of the intent. */
export function noteRequested(
  open: OpenCall,
  asked: { readonly argsHash: string; readonly argsSummary: string; readonly details?: JsonObject | undefined },
  parts: IdentityParts & RecordingParts,
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

export function noteDecision(
  open: OpenCall,
  decision: JudgedCall['decision'],
  parts: IdentityParts & RecordingParts,
): void {
  const record: DecisionRecord = {
    kind: 'decision',
    call_id: open.callId,
    session_id: open.sessionId,
    at_ms: parts.clock.now(),
    ...decision,
  };
  open.trail.push(record);
}

/**
 * Writes what is waiting, after any marker an earlier failure left behind. On failure the trail is what it was. While the
 * journal has not answered, the records belong to it: a caller that stops waiting must not write them again.
 */
export function writeTrail(open: OpenCall, parts: IdentityParts & RecordingParts): Promise<void> {
  return handOver(open, (records) => parts.journal.append(records), parts);
}

/** The same with another way to write. */
export async function handOver<T>(
  { trail }: OpenCall,
  write: (records: readonly JournalRecord[]) => MaybePromise<T>,
  parts: IdentityParts & RecordingParts,
): Promise<T> {
  const records = trail.splice(0);
  try {
    return await parts.recovery.carry(records, write);
  } catch (thrown) {
    trail.unshift(...records);
    throw thrown;
  }
}
