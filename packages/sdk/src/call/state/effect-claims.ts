/** Claims of a call in the ledger of effects, from the intent to the outcome. */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import type { EffectClaim, EffectIntent, EffectLedger, EffectState } from '../../contracts/effect-ledger.ts';
import { failure } from '../../contracts/failures.ts';
import type { KeyClaim, KeyState } from '../../contracts/journal.ts';
import type { AdmittedCall, JudgedCall, Outcome, RecordedCall } from './call-types.ts';
import type { IdentityParts, RecordingParts } from './session-parts.ts';
import { settle } from './settle.ts';
import { keyTakenMeanwhile, refuseUsedKey } from './used-key.ts';

/** The call was made before, by another host or by this one. */
export type AnsweredEffect = Extract<EffectState, { state: 'done' }>;

/** Claims every name of the call, in order; what was claimed before a refusal or an earlier answer is released. */
export async function beginEffects(
  call: AdmittedCall,
  parts: IdentityParts & RecordingParts,
): Promise<readonly EffectClaim[] | AnsweredEffect> {
  const { ledger } = parts;
  const held: EffectClaim[] = [];
  if (ledger === undefined) return held;
  if (call.effects.length > 0 && call.mutationClass !== 'read_only') ledger.checkFence();
  for (const effect of call.effects) {
    const claim = await settle(() => beginEffect(call, { effect, ledger }, parts));
    if (claim.ok && claim.value.state === 'claimed') {
      held.push(claim.value);
      continue;
    }
    await releaseEffects(held);
    if (!claim.ok) throw claim.error;
    const state = claim.value as EffectState;
    if (state.state === 'done') return state;
    refuseOther(state);
    throw keyTakenMeanwhile('callId' in state ? state.callId : call.open.callId);
  }
  return held;
}

/** A read was not looked up before; one that was lost simply runs again. */
async function beginEffect(
  call: AdmittedCall,
  { effect, ledger }: { readonly effect: KeyClaim; readonly ledger: EffectLedger },
  parts: IdentityParts,
): Promise<EffectClaim | EffectState> {
  const begin = (over: number | undefined) =>
    ledger.begin({ ...intentOf(call, effect, parts), ...(over === undefined ? {} : { over }) });
  const begun = await begin(call.takesOver.get(effect.key));
  return begun.state === 'lost' && call.mutationClass === 'read_only' ? begin(begun.at) : begun;
}

export async function releaseEffects(held: readonly EffectClaim[]): Promise<void> {
  await Promise.all(held.map((claim) => claim.release()));
}

/** The outcome, once the ledger has it. An unknown one is not told: its names stay open until it is reconciled. */
export async function finishEffects(
  { held, open }: RecordedCall,
  outcome: Outcome,
  answer: () => JsonObject,
): Promise<void> {
  if (held.length === 0 || outcome.status === 'unknown') return;
  if (isFencedUntouched(outcome)) return releaseEffects(held);
  const told = answer();
  const taken = await Promise.all(held.map((claim) => claim.finish(told)));
  if (!taken.every((isTaken) => isTaken)) throw takenOver(open.callId);
}

/** This host lost the workspace before the call changed anything: another host may run it. */
function isFencedUntouched({ errors, changes }: Outcome): boolean {
  return changes.length === 0 && errors[0]?.details?.['reason'] === 'fenced';
}

export function intentOf(call: JudgedCall, name: KeyClaim, { sessionId }: IdentityParts): EffectIntent {
  const { scope, key, rehearsal } = name;
  return {
    scope,
    key,
    ...subjectOf(call),
    callId: call.open.callId,
    sessionId,
    retrySafe: call.mutationClass === 'read_only',
    ...(rehearsal === undefined ? {} : { rehearsal }),
  };
}

export function subjectOf({ subject }: JudgedCall): { readonly tool: string; readonly args: JsonObject } {
  return { tool: subject.tool, args: subject.args };
}

/** Passes `new`, `lost` and `done`. */
export function refuseOther(state: EffectState): void {
  if (state.state === 'running') refuseUsedKey({ state: 'pending', callId: state.callId } satisfies KeyState);
  if (state.state === 'conflict') refuseUsedKey(state);
}

export function takenOver(callId: string): ToolError {
  return failure('journal_failure', 'repair_needed', 'Another host took this call over while it ran', {
    details: {
      gate: 'ledger',
      reason: 'fenced',
      call_id: callId,
      next: 'send the call again with the same key to get the outcome that counts',
    },
  });
}
