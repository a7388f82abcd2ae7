/** An operator's word on a call whose outcome the runtime does not know. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { Clock } from '../contracts/clock.ts';
import { contractViolation } from '../contracts/failures.ts';
import type { JournalStore, KeyClaim, RecoveryRecord, StoredRecord } from '../contracts/journal.ts';
import { isPending } from './call-state.ts';
import { sessionOf } from './recover-claim.ts';
import { replay } from './replay.ts';

export type Resolution = 'completed' | 'not_started';

export interface ResolveOptions {
  readonly clock: Clock;
  readonly note: string;
  /** What a repetition of the key is answered with when the call is declared completed, instead of what it intended. */
  readonly answer?: JsonValue;
}

/**
 * `not_started` frees the call's keys, so that it may be run again; `completed` settles them, so that it never is. Their
 * answer is then the one the call would have given, or a warning where it is not known.
 * Throws ToolError (invalid_state_transition) for a call that has a known end, or that is unknown.
 */
export async function resolvePending(
  store: JournalStore,
  callId: string,
  resolution: Resolution,
  options: ResolveOptions,
): Promise<void> {
  const archived = archivedRecords(store, callId);
  await store.atomically(() => {
    const claims = store.claimsOf(callId);
    const records = [...bySeq([...archived, ...store.read({ callId })])];
    const state = replay(records, { mode: 'audit' }).calls.get(callId);
    if (claims.length === 0 && (state === undefined || !isPending(state))) {
      throw contractViolation('Call is not waiting for a decision', { call_id: callId, reason: 'not_pending' });
    }
    for (const claim of claims) {
      const { scope, key } = claim;
      if (resolution === 'not_started') void store.release(scope, key, []);
      else void store.settle(scope, key, options.answer ?? intendedAnswer(claim), []);
    }
    void store.append([{ ...resolvedRecord(callId, resolution, options), ...sessionOf(records) }]);
  });
}

/** Without data the answer is not what the tool promises, so it says why. */
function intendedAnswer({ callId, rehearsal }: KeyClaim): JsonValue {
  const intended = rehearsal?.answer;
  if (intended !== undefined && intended['data'] !== null) return intended;
  const warning: JsonObject = {
    code: 'E_POLICY',
    message: `The answer of this call is not known: an operator declared it completed: ${callId}`,
    details: {
      gate: 'idempotency',
      reason: 'answer_unknown',
      call_id: callId,
      next: 'look at what the call changed; `tool-runtime audit list` shows the note of the operator',
    },
  };
  return { status: 'completed', data: null, errors: [], warnings: [warning] };
}

/** A call may have waited for a decision for so long that its intent was archived. Searched before anyone is locked out. */
function archivedRecords(store: JournalStore, callId: string): readonly StoredRecord[] {
  for (const { kind } of store.read({ callId })) if (kind === 'intent') return [];
  return [...store.read({ callId, archived: true })];
}

/** What was archived meanwhile may be there twice. */
function bySeq(records: readonly StoredRecord[]): Iterable<StoredRecord> {
  return new Map(records.map((record) => [record.seq, record])).values();
}

function resolvedRecord(callId: string, resolution: Resolution, { clock, note }: ResolveOptions): RecoveryRecord {
  return {
    kind: 'recovery',
    at_ms: clock.now(),
    call_id: callId,
    reason: resolution,
    classification: 'resolved',
    note,
  };
}
