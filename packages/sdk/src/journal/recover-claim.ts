/**
 * Ends the wait of a key whose process died, where that can be proven.
 *
 * The key changes hands in one step with the record that says why, and only while the lost call still holds it: of two
 * processes that find the same key, one gets to do it and the other sees the outcome.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { Clock } from '../contracts/clock.ts';
import type { JournalStore, KeyClaim, RecoveryRecord, StoredRecord } from '../contracts/journal.ts';

/** Settles the key with the answer of a call that is proven to have happened. False when it is not the call's any more. */
export function settleLost(
  store: JournalStore,
  claim: KeyClaim,
  { clock, answer }: { readonly clock: Clock; readonly answer: JsonObject },
): Promise<boolean> {
  return whileHeld(store, claim, (held) => {
    const note = 'proven by comparison: everything the call was to change is as it intended';
    for (const { scope, key } of held) void store.settle(scope, key, answer, []);
    void store.append([recovered(store, claim, { clock, reason: 'completed', classification: 'resolved', note })]);
  });
}

/** Frees the key of a call that had no effect, so that a retry may run. False when it is not the call's any more. */
export function releaseLost(
  store: JournalStore,
  claim: KeyClaim,
  { clock, note }: { readonly clock: Clock; readonly note: string },
): Promise<boolean> {
  return whileHeld(store, claim, (held) => {
    for (const { scope, key } of held) void store.release(scope, key, []);
    void store.append([recovered(store, claim, { clock, reason: 'not_started', classification: 'retry_safe', note })]);
  });
}

/** `held` are all keys of the call: what is proven of one is proven of each. */
async function whileHeld(
  store: JournalStore,
  claim: KeyClaim,
  work: (held: readonly KeyClaim[]) => void,
): Promise<boolean> {
  return store.atomically(() => {
    const held = store.claimsOf(claim.callId);
    const isHeld = held.some(({ scope, key }) => scope === claim.scope && key === claim.key);
    if (isHeld) work(held);
    return isHeld;
  });
}

function recovered(
  store: JournalStore,
  { callId }: KeyClaim,
  {
    clock,
    ...said
  }: Pick<RecoveryRecord, 'reason' | 'classification'> & { readonly clock: Clock; readonly note: string },
): RecoveryRecord {
  return { kind: 'recovery', at_ms: clock.now(), call_id: callId, ...sessionOf(store.read({ callId })), ...said };
}

/** The session of a call, from any record of it that names one; nothing where all of them are archived. */
export function sessionOf(records: Iterable<StoredRecord>): { readonly session_id?: string } {
  for (const record of records) {
    if ('session_id' in record && record.session_id !== undefined) return { session_id: record.session_id };
  }
  return {};
}
