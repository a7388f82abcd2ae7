/** Records of made-up calls, complete enough for any store. */
import type {
  DecisionRecord,
  IntentRecord,
  RecoveryRecord,
  RequestedRecord,
  ResultRecord,
} from '../contracts/journal.ts';

const ARGS_HASH = 'hmac-sha256:00';

export function sampleRequested(callId: string, changes: Partial<RequestedRecord> = {}): RequestedRecord {
  return {
    kind: 'requested',
    ...ofCall(callId),
    request_id: `request-${callId}`,
    tool: 'file_write',
    args_hash: ARGS_HASH,
    args_summary: 'path="a.txt"',
    actor: 'tester',
    client: 'suite/1',
    ...changes,
  };
}

export function sampleDecision(callId: string, changes: Partial<DecisionRecord> = {}): DecisionRecord {
  return { kind: 'decision', ...ofCall(callId), outcome: 'allow', gate: 'policy', code: 'allowed', ...changes };
}

export function sampleIntent(callId: string, changes: Partial<IntentRecord> = {}): IntentRecord {
  return {
    kind: 'intent',
    ...ofCall(callId),
    tool: 'file_write',
    args_hash: ARGS_HASH,
    retry_safe: false,
    instance: 'instance-1',
    effect: { effect_id: `effect.${callId}`, kind: 'tool_execution' },
    ...changes,
  };
}

export function sampleResult(callId: string, changes: Partial<ResultRecord> = {}): ResultRecord {
  return {
    kind: 'result',
    ...ofCall(callId),
    tool: 'file_write',
    args_hash: ARGS_HASH,
    status: 'completed',
    start_ts: 1,
    end_ts: 2,
    duration_ms: 1,
    bytes: 3,
    files: [],
    errors: [],
    effect: { effect_id: `effect.${callId}` },
    ...changes,
  };
}

export function sampleRecovery(callId: string, changes: Partial<RecoveryRecord> = {}): RecoveryRecord {
  return { kind: 'recovery', at_ms: 5, call_id: callId, reason: 'crashed', classification: 'reconcile', ...changes };
}

function ofCall(callId: string) {
  return { call_id: callId, session_id: 'session-1', at_ms: 1 };
}
