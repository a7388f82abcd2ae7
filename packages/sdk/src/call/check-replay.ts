/**
 * A key that was used before is answered from the record, or refused; it never causes a second effect.
 *
 * The key of a call whose process died is decided by comparison: everything as the call intended means that it happened,
 * and its answer is given; everything as before means that it did not, and it runs now; anything else is refused.
 */
import type { JsonValue } from '@tool-runtime/protocol';
import type { KeyClaim, KeyState } from '../contracts/journal.ts';
import { compareRehearsal } from '../journal/compare-rehearsal.ts';
import { releaseLost, settleLost } from '../journal/recover-claim.ts';
import type { JudgedCall } from './state/call-types.ts';
import { lookOnly } from './state/git-view.ts';
import type { SessionParts } from './state/session-parts.ts';
import { outcomeUnknown, refuseUsedKey } from './state/used-key.ts';
import { subjectReader } from './tool-context/read-subject.ts';

export interface ReplayCheck {
  readonly claim: KeyClaim | undefined;
  /** The recorded answer of the earlier call with this key. */
  readonly recorded: { readonly callId: string; readonly answer: JsonValue } | undefined;
}

const NO_KEY: ReplayCheck = { claim: undefined, recorded: undefined };

export async function checkReplay(call: JudgedCall, parts: SessionParts): Promise<ReplayCheck> {
  const claim = claimOf(call, parts);
  if (claim === undefined) return NO_KEY;
  const state = await currentState(call, claim, parts);
  refuseUsedKey(state);
  return { claim, recorded: state.state === 'done' ? state : undefined };
}

/** Keys outlive sessions, so that a client may retry after a crash; they never cross from one actor to another. */
function claimOf(call: JudgedCall, parts: SessionParts): KeyClaim | undefined {
  const { idempotencyKey, dedupeKey } = call.open.request;
  const key = idempotencyKey ?? dedupeKey;
  if (key === undefined) return undefined;
  const scope = idempotencyKey === undefined ? 'dedupe' : `idempotency:${parts.actor}`;
  return { scope, key, argsHash: call.argsHash, callId: call.open.callId, instance: parts.instanceId };
}

async function currentState(call: JudgedCall, claim: KeyClaim, parts: SessionParts): Promise<KeyState> {
  const { scope, key, argsHash } = claim;
  const lookUp = () => parts.journal.lookup(scope, key, argsHash);
  const found = await lookUp();
  if (found.state !== 'pending' || !isLost(found, parts)) return found;
  // On record first; what can be compared without this session is settled on the way.
  await parts.reconcile();
  const state = await lookUp();
  if (state.state !== 'pending' || state.callId !== found.callId) return state;
  await recover(call, { ...state, scope, key, argsHash }, parts);
  return lookUp();
}

type PendingKey = Extract<KeyState, { state: 'pending' }>;

/** Claims of older versions name no instance; their intent does, as long as it is open. */
function isLost({ callId, instance }: PendingKey, { journal, isDead }: SessionParts): boolean {
  const owner = instance ?? journal.unfinished().find((intent) => intent.call_id === callId)?.instance;
  return owner === undefined || isDead(owner);
}

/** The arguments are the same, so the lost call read exactly where this one reads. */
async function recover(call: JudgedCall, lost: KeyClaim, parts: SessionParts): Promise<void> {
  const { journal, clock } = parts;
  if (call.view.mutationClass === 'read_only') {
    await releaseLost(journal, lost, { clock, note: 'the call only reads' });
    return;
  }
  const reader = await subjectReader(parts.readOnlyWorkspace, lookOnly(parts.programs.git));
  const comparison = await compareRehearsal(lost.rehearsal, reader);
  if (comparison.verdict === 'unclear') throw outcomeUnknown(lost.callId, comparison.why);
  if (comparison.verdict === 'happened') await settleLost(journal, lost, { clock, answer: comparison.answer });
  else
    await releaseLost(journal, lost, { clock, note: 'proven by comparison: everything is as it was before the call' });
}
