/** Writes down what is about to happen. If that fails, it does not happen. */
import type { EffectIntent, RecordedIntent } from '../contracts/effects.ts';
import type { IntentRecord, JournalRecord, KeyClaim } from '../contracts/journal.ts';
import type { AdmittedCall, RecordedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';
import { handOver, noteDecision, writeTrail } from './state/trail.ts';
import { keyTakenMeanwhile, refuseUsedKey } from './state/used-key.ts';

export async function recordIntent(call: AdmittedCall, parts: SessionParts): Promise<RecordedCall> {
  const { trail } = call.open;
  const intent = effectIntent(call);
  const before = trail.length;
  noteDecision(call.open, call.decision, parts);
  trail.push(intentRecord(call, intent, parts));
  try {
    await (call.claim === undefined ? writeTrail(call.open, parts) : claimKey(call, call.claim, parts));
  } catch (error) {
    // The refusal that follows writes the trail; it must not say that something was about to happen.
    trail.splice(before);
    throw error;
  }
  return { ...call, intent };
}

/** Key and intent in one step. Someone may have taken the key since the look-up; then nothing was appended. */
async function claimKey(call: AdmittedCall, claim: KeyClaim, parts: SessionParts): Promise<void> {
  const take = async (records: readonly JournalRecord[]): Promise<void> => {
    const state = await parts.journal.claim(claim, records);
    refuseUsedKey(state);
    if (state.state === 'done') throw keyTakenMeanwhile(state.callId);
  };
  await handOver(call.open, take, parts);
}

function effectIntent(call: AdmittedCall): EffectIntent {
  const { request, callId } = call.open;
  return {
    effect_id: `effect.${callId}`,
    kind: 'tool_execution',
    subject_ref: { kind: 'tool_call', id: callId },
    source: call.view.source,
    destination: call.view.destination,
    policy_refs: call.view.policyRefs,
    content_refs: [],
    redacted_summary: call.view.argsSummary,
    ...(request.idempotencyKey === undefined ? {} : { idempotency_key: request.idempotencyKey }),
    ...(request.dedupeKey === undefined ? {} : { dedupe_key: request.dedupeKey }),
  };
}

function intentRecord(call: AdmittedCall, effect: EffectIntent, parts: SessionParts): IntentRecord {
  return {
    kind: 'intent',
    call_id: call.open.callId,
    session_id: call.open.sessionId,
    at_ms: parts.clock.now(),
    tool: call.view.tool,
    args_hash: call.argsHash,
    retry_safe: call.view.mutationClass === 'read_only',
    instance: parts.instanceId,
    effect: recordedIntent(effect),
    ...(call.claim?.rehearsal === undefined ? {} : { changes: call.claim.rehearsal.changes }),
  };
}

function recordedIntent({ effect_id, kind, idempotency_key, dedupe_key }: EffectIntent): RecordedIntent {
  return {
    effect_id,
    kind,
    ...(idempotency_key === undefined ? {} : { idempotency_key }),
    ...(dedupe_key === undefined ? {} : { dedupe_key }),
  };
}
