/**
 * Ends the wait of a key whose process died, where that can be proven.
 *
 * The key changes hands in one step with the record that says why, and only while the lost call still holds it: of two
 * processes that find the same key, one gets to do it and the other sees what came of it.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { Clock } from '../contracts/clock.ts';
import type { JournalStore, KeyClaim, RecoveryRecord } from '../contracts/journal.ts';

/** Settles the key with the answer of a call that is proven to have happened. False when it is not the call's any more. */
export function settleLost(
  store: JournalStore,
  claim: KeyClaim,
  { clock, answer }: { readonly clock: Clock; readonly answer: JsonObject },
): Promise<boolean> {
  return whileHeld(store, claim, () => {
    const note = 'proven by comparison: everything the call was to change is as it intended';
    const record = recovered(claim, { clock, reason: 'completed', classification: 'resolved', note });
    void store.settle(claim.scope, claim.key, answer, [record]);
  });
}

/** Frees the key of a call that had no effect, so that a retry may run. False when it is not the call's any more. */
export function releaseLost(
  store: JournalStore,
  claim: KeyClaim,
  { clock, note }: { readonly clock: Clock; readonly note: string },
): Promise<boolean> {
  return whileHeld(store, claim, () => {
    const record = recovered(claim, { clock, reason: 'not_started', classification: 'retry_safe', note });
    void store.release(claim.scope, claim.key, [record]);
  });
}

async function whileHeld(store: JournalStore, claim: KeyClaim, work: () => void): Promise<boolean> {
  return store.atomically(() => {
    const isHeld = store.claimsOf(claim.callId).some(({ scope, key }) => scope === claim.scope && key === claim.key);
    if (isHeld) work();
    return isHeld;
  });
}

function recovered(
  { callId }: KeyClaim,
  {
    clock,
    ...said
  }: Pick<RecoveryRecord, 'reason' | 'classification'> & { readonly clock: Clock; readonly note: string },
): RecoveryRecord {
  return { kind: 'recovery', at_ms: clock.now(), call_id: callId, ...said };
}
