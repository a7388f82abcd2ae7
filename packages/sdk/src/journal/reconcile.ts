/**
 * Finds calls whose process died between intent and result, and says so in the journal, once.
 *
 * A call that only reads gives its key back. Any other keeps it: its effect may have happened. Where what it was about to
 * change can be compared from here and is as intended, the key gets its answer now, before someone changes it again;
 * everything else is decided when the key is used again, or by a person (`resolvePending`).
 */
import type { Clock } from '../contracts/clock.ts';
import type { Instance, JournalStore, KeyClaim, RecoveryRecord, StoredIntent } from '../contracts/journal.ts';
import type { SubjectReader } from '../contracts/rehearsal.ts';
import { compareRehearsal } from './compare-rehearsal.ts';
import { settleLost } from './recover-claim.ts';

export interface ReconcileOptions {
  readonly clock: Clock;
  isAlive(instance: Instance): boolean;
  /** Id of the instance that reconciles; its own calls are never lost. */
  readonly self: string;
  /** Asked only when there is something to compare. */
  reader(): Promise<SubjectReader>;
}

export interface ReconciledCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly instance: string;
  /** `resolved`: proven to have happened. */
  readonly classification: 'retry_safe' | 'reconcile' | 'resolved';
}

/** Calls of living instances are left alone. Lost ones are found in one step, so that only one process finds each. */
export async function reconcile(store: JournalStore, options: ReconcileOptions): Promise<readonly ReconciledCall[]> {
  if (store.unfinished().length === 0 && store.instances().length <= 1) return [];
  const found = await store.atomically(() => {
    retireDead(store, options);
    const lost = store.unfinished().filter(({ instance }) => isGone(instance, store, options));
    const calls = lost.map((intent) => reconciledCall(intent, store.claimsOf(intent.call_id)));
    for (const { callId, classification } of calls) {
      if (classification === 'retry_safe') releaseKeys(store, callId);
    }
    const atMs = options.clock.now();
    void store.append(calls.map((call) => recoveryRecord(call, atMs)));
    return calls;
  });
  const proven = await settleProven(store, found, options);
  return found.map((call) => (proven.has(call.callId) ? { ...call, classification: 'resolved' } : call));
}

/** Ids of the calls whose keys got their answers. */
async function settleProven(
  store: JournalStore,
  calls: readonly ReconciledCall[],
  { clock, reader }: ReconcileOptions,
): Promise<ReadonlySet<string>> {
  const claims = calls.flatMap(({ callId }) => store.claimsOf(callId)).filter(isComparable);
  const proven = new Set<string>();
  if (claims.length === 0) return proven;
  const subjects = await reader();
  for (const claim of claims) {
    const comparison = await compareRehearsal(claim.rehearsal, subjects);
    if (comparison.verdict !== 'happened') continue;
    if (await settleLost(store, claim, { clock, answer: comparison.answer })) proven.add(claim.callId);
  }
  return proven;
}

function isComparable({ rehearsal }: KeyClaim): boolean {
  return rehearsal !== undefined;
}

function retireDead(store: JournalStore, { isAlive, self }: ReconcileOptions): void {
  for (const instance of store.instances()) {
    if (instance.id !== self && !isAlive(instance)) void store.retire(instance.id);
  }
}

/** Only on evidence: a process whose entry is missing or was changed may be running, so its calls are left alone. */
export function isGone(
  id: string,
  store: Pick<JournalStore, 'findInstance'>,
  { isAlive, self }: Pick<ReconcileOptions, 'isAlive' | 'self'>,
): boolean {
  if (id === self) return false;
  const found = store.findInstance(id);
  return found !== undefined && (found.retired || !isAlive(found));
}

/** Claims without an instance are of a version that also called some writes safe to repeat: they wait for the retry. */
function reconciledCall(intent: StoredIntent, claims: readonly KeyClaim[]): ReconciledCall {
  const isSafe = intent.retry_safe && claims.every(({ instance }) => instance !== undefined);
  return {
    callId: intent.call_id,
    sessionId: intent.session_id,
    tool: intent.tool,
    instance: intent.instance,
    classification: isSafe ? 'retry_safe' : 'reconcile',
  };
}

function recoveryRecord({ callId, sessionId, classification }: ReconciledCall, atMs: number): RecoveryRecord {
  return {
    kind: 'recovery',
    at_ms: atMs,
    call_id: callId,
    session_id: sessionId,
    reason: 'crashed',
    classification: classification === 'resolved' ? 'reconcile' : classification,
  };
}

function releaseKeys(store: JournalStore, callId: string): void {
  for (const { scope, key } of store.claimsOf(callId)) void store.release(scope, key, []);
}
