/**
 * Looks a call up in the ledger of effects, where the runtime has one: several hosts may be given the same call, and one of
 * them may cause its effect.
 *
 * The name of a call is its key. A mutating call without one is named by the id of its request where that id is random, so
 * that a client may send it to another host after its own died. Calls that only read and carry no key are not claimed, and
 * those with a key are claimed without a look: what stands in the way of the claim says the same, one round trip earlier.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { EffectLedger, EffectState } from '../contracts/effect-ledger.ts';
import type { KeyClaim } from '../contracts/journal.ts';
import { compareRehearsal } from '../journal/compare-rehearsal.ts';
import type { JudgedCall } from './state/call-types.ts';
import { intentOf, refuseOther, subjectOf, takenOver } from './state/effect-claims.ts';
import { lookOnly } from './state/git-view.ts';
import type { IdentityParts, SessionParts } from './state/session-parts.ts';
import { keyTakenMeanwhile, outcomeUnknown } from './state/used-key.ts';
import { subjectReader } from './tool-context/read-path.ts';

/** What the ledger says before anything is locked or recorded. */
export interface LedgerCheck {
  /** Positions of lost calls that this one takes over, by name. */
  readonly over: ReadonlyMap<string, number>;
  readonly recorded: { readonly callId: string; readonly answer: JsonValue } | undefined;
}

const RANDOM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The names of a call: its keys, else the request of a call that may change something. Empty for a plain read. */
export function namesOf(
  { open, mutationClass, argsHash }: JudgedCall,
  keys: readonly KeyClaim[],
  parts: IdentityParts,
): readonly KeyClaim[] {
  if (keys.length > 0 || mutationClass === 'read_only') return keys;
  const { callId, request } = open;
  const key = RANDOM_ID.test(request.requestId) ? request.requestId : callId;
  return [{ scope: `request:${parts.actor}`, key, argsHash, callId, instance: parts.instanceId }];
}

/**
 * `local`: what the journal of this host has on record for the same keys; undefined for a call without keys. It counts
 * where the ledger has no outcome, because this host may have died between writing its result and telling the ledger.
 */
export async function checkLedger(
  call: JudgedCall,
  names: readonly KeyClaim[],
  {
    ledger,
    local,
    parts,
  }: { ledger: EffectLedger; local: (() => Promise<Pick<LedgerCheck, 'recorded'>>) | undefined; parts: SessionParts },
): Promise<LedgerCheck> {
  const isUnseen = call.mutationClass === 'read_only' && call.open.request.recordOf === undefined;
  const early = isUnseen ? await local?.() : undefined;
  if (isUnseen && early?.recorded === undefined) return { over: new Map(), recorded: undefined };
  const states = await Promise.all(names.map((name) => ledger.lookup({ ...name, ...subjectOf(call) })));
  for (const state of states) {
    if (state.state === 'done') return { over: new Map(), recorded: state };
    refuseOther(state);
  }
  const recorded = (early ?? (await local?.()))?.recorded;
  const over = new Map<string, number>();
  for (const [at, state] of states.entries()) {
    const name = names[at];
    if (name === undefined || state.state !== 'lost') continue;
    const answer = (recorded?.answer as JsonObject | undefined) ?? (await answerOfLost(call, state, parts));
    if (answer === undefined) over.set(name.key, state.at);
    else return { over, recorded: await settleLost(call, { name, state, answer, ledger }, parts) };
  }
  return { over, recorded };
}

type LostEffect = Extract<EffectState, { state: 'lost' }>;

/** What the lost call would have answered, when it is proven to have happened; undefined when it may run now. */
async function answerOfLost(call: JudgedCall, lost: LostEffect, parts: SessionParts): Promise<JsonObject | undefined> {
  if (call.mutationClass === 'read_only') return undefined;
  const reader = await subjectReader(parts.readOnlyWorkspace, lookOnly(parts.programs.git));
  const comparison = await compareRehearsal(lost.rehearsal, reader);
  if (comparison.verdict === 'unclear') throw outcomeUnknown(lost.callId, comparison.why);
  return comparison.verdict === 'happened' ? comparison.answer : undefined;
}

interface Proven {
  readonly name: KeyClaim;
  readonly state: LostEffect;
  readonly answer: JsonObject;
  readonly ledger: EffectLedger;
}

async function settleLost(
  call: JudgedCall,
  { name, state, answer, ledger }: Proven,
  parts: SessionParts,
): Promise<LedgerCheck['recorded']> {
  const claim = await ledger.begin({ ...intentOf(call, name, parts), over: state.at });
  if (claim.state === 'claimed') {
    if (await claim.finish(answer)) return { callId: state.callId, answer };
    throw takenOver(state.callId);
  }
  if (claim.state === 'done') return claim;
  refuseOther(claim);
  throw keyTakenMeanwhile(state.callId);
}
