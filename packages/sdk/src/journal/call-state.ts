/**
 * What the records of one call add up to, and which record may follow which.
 *
 * A call is over with its result or with a refusal; after that only a recovery may speak of it, and a hook that says it
 * rewrote the result. A record written twice is ignored where a key proves that it means the same, or where repeating
 * does no harm (recovery); otherwise it is a contradiction.
 */
import type { IntentRecord, JournalRecord, RecoveryRecord, ResultRecord, StoredRecord } from '../contracts/journal.ts';

export type CallPhase =
  | 'requested'
  | 'denied'
  /** Intent without result. */
  | 'pending'
  | 'finished'
  /** It is unknown whether the effect happened; a person must find out. */
  | 'unknown'
  /** Lost, and free to be run again. */
  | 'retry_safe'
  /** Lost, and a person has said what became of it. */
  | 'resolved';

export type OfCall = StoredRecord & { readonly call_id?: string };

export interface CallState {
  readonly callId: string;
  readonly sessionId: string;
  readonly tool: string | undefined;
  readonly phase: CallPhase;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly intent: (IntentRecord & { readonly seq: number }) | undefined;
  readonly result: (ResultRecord & { readonly seq: number }) | undefined;
  readonly recovery: RecoveryRecord | undefined;
  readonly keyed: boolean;
  /** Texts of the records seen so far, to know a repetition; dropped when the call is over. */
  readonly seen: ReadonlySet<string>;
}

export interface PendingCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly argsHash: string;
  readonly instance: string;
  /** Where its intent stands. */
  readonly seq: number;
  /** Running it again has no second effect. */
  readonly retrySafe: boolean;
  /** A key of the caller's or of the receiver's recognises the repetition. */
  readonly keyed: boolean;
  readonly retryable: boolean;
  /** What was said of it already. */
  readonly classification: RecoveryRecord['classification'] | undefined;
}

export interface Fold {
  readonly state: CallState;
  readonly problem?: string;
}

/** The state after one more record. A problem leaves the state as it was. */
export function foldCall(before: CallState | undefined, record: OfCall): Fold {
  const state = before ?? emptyState(record);
  const problem = contradiction(state, record);
  if (problem === 'repeated') return { state };
  if (problem !== undefined) return { state, problem };
  return { state: { ...advance(state, record), lastSeq: record.seq } };
}

export function isPending(state: CallState): boolean {
  return state.intent !== undefined && (state.phase === 'pending' || state.phase === 'unknown');
}

/** Of a call for which `isPending` holds. */
export function pendingCall(state: CallState): PendingCall {
  const { callId, sessionId, keyed, phase } = state;
  const intent = state.intent as IntentRecord & { readonly seq: number };
  const retrySafe = intent.retry_safe;
  return {
    callId,
    sessionId,
    tool: intent.tool,
    argsHash: intent.args_hash,
    instance: intent.instance,
    seq: intent.seq,
    retrySafe,
    keyed,
    retryable: phase === 'pending' && (retrySafe || keyed),
    classification: state.recovery?.classification,
  };
}

function emptyState(record: OfCall): CallState {
  return {
    callId: record.call_id ?? '',
    sessionId: ('session_id' in record ? record.session_id : undefined) ?? '',
    tool: undefined,
    phase: 'requested',
    firstSeq: record.seq,
    lastSeq: record.seq,
    intent: undefined,
    result: undefined,
    recovery: undefined,
    keyed: false,
    seen: new Set(),
  };
}

/** Why the record cannot follow; `repeated` when it says nothing new and may. */
function contradiction(state: CallState, record: OfCall): string | undefined {
  if (record.kind === 'recovery' || record.kind === 'checkpoint') return undefined;
  if (isRepetition(state, record)) return state.keyed ? 'repeated' : `duplicate ${record.kind} of a call without a key`;
  if (isOver(state) && !rewritesResult(state, record)) return `${record.kind} after the call was over`;
  if (record.kind === 'intent' && state.intent !== undefined) return 'second intent';
  if (record.kind === 'result' && state.intent === undefined) return 'result without intent';
  return undefined;
}

function isRepetition(state: CallState, record: OfCall): boolean {
  if (record.kind === 'result' && state.result !== undefined) return textOf(record) === textOf(state.result);
  return state.seen.has(textOf(record));
}

function isOver({ result, phase }: CallState): boolean {
  return result !== undefined || phase === 'denied';
}

function rewritesResult({ result }: CallState, record: OfCall): boolean {
  return result !== undefined && record.kind === 'hook' && record.action === 'rewrote_result';
}

function advance(state: CallState, record: OfCall): CallState {
  switch (record.kind) {
    case 'requested':
      return remember(
        { ...state, tool: record.tool, keyed: state.keyed || record.idempotency_key !== undefined },
        record,
      );
    case 'intent': {
      const { effect } = record;
      const keyed = state.keyed || effect.idempotency_key !== undefined || effect.dedupe_key !== undefined;
      return remember({ ...state, tool: record.tool, intent: record, keyed, phase: 'pending' }, record);
    }
    case 'result':
      return { ...state, result: record, phase: record.status === 'unknown' ? 'unknown' : 'finished', seen: new Set() };
    case 'decision':
      return record.outcome === 'deny' ? { ...state, phase: 'denied', seen: new Set() } : remember(state, record);
    case 'recovery':
      return { ...state, recovery: record, phase: recoveredPhase(state, record) };
    default:
      return isOver(state) ? state : remember(state, record);
  }
}

/** A recovery changes how a lost call stands. What has a known end keeps it, unless its result needs a second look. */
function recoveredPhase({ phase }: CallState, { classification }: RecoveryRecord): CallPhase {
  if (phase !== 'pending' && phase !== 'unknown') return phase;
  if (classification === 'retry_safe' || classification === 'resolved') return classification;
  return 'unknown';
}

function remember(state: CallState, record: OfCall): CallState {
  return { ...state, seen: new Set(state.seen).add(textOf(record)) };
}

/** Two records are the same when all but their place is. */
function textOf(record: JournalRecord & { readonly seq: number }): string {
  return JSON.stringify({ ...record, seq: 0 });
}
