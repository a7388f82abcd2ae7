/** Keys that make a call happen at most once: claimed with its intent, settled with its answer, released if it never ran. */
import type { JsonValue } from '@tool-runtime/protocol';
import { contractViolation } from '../../contracts/failures.ts';
import type { KeyClaim, KeyState } from '../../contracts/journal.ts';
import type { Rehearsal } from '../../contracts/rehearsal.ts';
import type { KeyRow } from './journal-tables.ts';
import type { KeyLedger } from './key-ledger.ts';

/** Call inside a transaction. `new` means that the key was free and is now the call's. */
export function claimKey(keys: KeyLedger, claim: KeyClaim): KeyState {
  const { scope, key, argsHash, callId, instance = null, rehearsal } = claim;
  const state = keyState(keys.find(scope, key), argsHash);
  if (state.state === 'new') {
    keys.add({
      ...{ scope, key, args_hash: argsHash, call_id: callId, state: 'pending', answer: null, settled_at: null },
      instance,
      rehearsal: rehearsal === undefined ? null : JSON.stringify(rehearsal),
    });
  }
  return state;
}

export function keyState(row: KeyRow | undefined, argsHash: string): KeyState {
  if (row === undefined) return { state: 'new' };
  const callId = row.call_id;
  if (row.args_hash !== argsHash) return { state: 'conflict', callId };
  if (row.state === 'pending' || row.answer === null) return { state: 'pending', callId, ...claimNotes(row) };
  return { state: 'done', callId, answer: JSON.parse(row.answer) as JsonValue };
}

interface SettledKey {
  readonly scope: string;
  readonly key: string;
  readonly answer: string;
  readonly atMs: number;
}

/** Only a pending key takes an answer: a second one would replace what was already told. */
export function settleKey(keys: KeyLedger, settled: SettledKey): void {
  const { scope, key, answer, atMs } = settled;
  const row = keys.find(scope, key);
  if (row?.state !== 'pending') {
    throw contractViolation('Key is not waiting for an answer', { scope, reason: 'key_not_pending' });
  }
  keys.replace(row, { ...row, state: 'done', answer, settled_at: atMs, rehearsal: null });
}

/** A key that is already free stays free; an answered one is never freed. */
export function releaseKey(keys: KeyLedger, scope: string, key: string): void {
  const row = keys.find(scope, key);
  if (row?.state === 'done') throw contractViolation('Key has its answer already', { scope, reason: 'key_done' });
  keys.remove({ scope, key });
}

export function pendingClaims(keys: KeyLedger, callId: string): readonly KeyClaim[] {
  return keys.pendingOf(callId).map((row) => {
    const { scope, key, args_hash: argsHash } = row;
    return { scope, key, argsHash, callId, ...claimNotes(row) };
  });
}

function claimNotes({ instance, rehearsal }: KeyRow): Pick<KeyClaim, 'instance' | 'rehearsal'> {
  return {
    ...(instance === null ? {} : { instance }),
    ...(rehearsal === null ? {} : { rehearsal: JSON.parse(rehearsal) as Rehearsal }),
  };
}
