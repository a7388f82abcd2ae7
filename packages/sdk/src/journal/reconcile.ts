/**
 * Finds calls that a dead process left between intent and result, and says so in the journal, once.
 *
 * A call that is safe to repeat gives its key back, so that a retry may run. Any other keeps its key: nobody knows
 * whether it took effect, and only a person can find out (`resolvePending`). A key does not make a lost call safe to
 * repeat: it guards against a second effect only as long as it is held.
 */
import type { Clock } from '../contracts/clock.ts';
import type { Instance, JournalStore, RecoveryRecord, StoredIntent } from '../contracts/journal.ts';

export interface ReconcileOptions {
  readonly clock: Clock;
  isAlive(instance: Instance): boolean;
  /** Id of the instance that reconciles; its own calls are never lost. */
  readonly self: string;
}

export interface ReconciledCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly instance: string;
  readonly classification: 'retry_safe' | 'reconcile';
}

/** Calls of living instances are left alone. In one step, so that of two processes only one finds a lost call. */
export async function reconcile(store: JournalStore, options: ReconcileOptions): Promise<readonly ReconciledCall[]> {
  if (store.unfinished().length === 0 && store.instances().length <= 1) return [];
  return store.atomically(() => {
    const live = liveInstances(store, options);
    const lost = store.unfinished().filter((intent) => !live.has(intent.instance));
    const found = lost.map(reconciledCall);
    for (const { callId, classification } of found) {
      if (classification === 'retry_safe') releaseKeys(store, callId);
    }
    const atMs = options.clock.now();
    void store.append(found.map((call) => recoveryRecord(call, atMs)));
    return found;
  });
}

/** Whoever is enrolled and answers. Those who do not are signed off on the way. */
function liveInstances(store: JournalStore, { isAlive, self }: ReconcileOptions): ReadonlySet<string> {
  const live = new Set([self]);
  for (const instance of store.instances()) {
    if (instance.id === self || isAlive(instance)) live.add(instance.id);
    else store.retire(instance.id);
  }
  return live;
}

function reconciledCall(intent: StoredIntent): ReconciledCall {
  return {
    callId: intent.call_id,
    sessionId: intent.session_id,
    tool: intent.tool,
    instance: intent.instance,
    classification: intent.retry_safe ? 'retry_safe' : 'reconcile',
  };
}

function recoveryRecord({ callId, sessionId, classification }: ReconciledCall, atMs: number): RecoveryRecord {
  return {
    kind: 'recovery',
    at_ms: atMs,
    call_id: callId,
    session_id: sessionId,
    reason: 'crashed',
    classification,
  };
}

function releaseKeys(store: JournalStore, callId: string): void {
  for (const { scope, key } of store.claimsOf(callId)) void store.release(scope, key, []);
}
