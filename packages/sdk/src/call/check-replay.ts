/** A key that was used before is answered from the record, or refused; it never causes a second effect. */
import type { JsonValue } from '@tool-runtime/protocol';
import type { KeyClaim } from '../contracts/journal.ts';
import type { JudgedCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';
import { refuseUsedKey } from './used-key.ts';

export interface ReplayCheck {
  readonly claim: KeyClaim | undefined;
  /** The recorded answer of the earlier call with this key. */
  readonly recorded: { readonly callId: string; readonly answer: JsonValue } | undefined;
}

const NO_KEY: ReplayCheck = { claim: undefined, recorded: undefined };

export async function checkReplay(call: JudgedCall, parts: SessionParts): Promise<ReplayCheck> {
  const claim = claimOf(call, parts);
  if (claim === undefined) return NO_KEY;
  const state = await parts.journal.lookup(claim.scope, claim.key, claim.argsHash);
  refuseUsedKey(state);
  return { claim, recorded: state.state === 'done' ? state : undefined };
}

/** Keys outlive sessions, so that a client may retry after a crash; they never cross from one actor to another. */
function claimOf(call: JudgedCall, parts: SessionParts): KeyClaim | undefined {
  const { idempotencyKey, dedupeKey } = call.open.request;
  const key = idempotencyKey ?? dedupeKey;
  if (key === undefined) return undefined;
  const scope = idempotencyKey === undefined ? 'dedupe' : `idempotency:${parts.actor}`;
  return { scope, key, argsHash: call.argsHash, callId: call.open.callId };
}
