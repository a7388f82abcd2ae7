/** Keys that make a call happen at most once: claimed with its intent, settled with its answer, released if it never ran. */
import type { JsonValue } from '@tool-runtime/protocol';
import { contractViolation } from '../contracts/failures.ts';
import type { KeyClaim, KeyState } from '../contracts/journal.ts';
import type { Rehearsal } from '../contracts/rehearsal.ts';
import type { JournalTables, KeyRow } from './journal-tables.ts';

/** Call inside a transaction. `new` means that the key was free and is now the call's. */
export function claimKey(tables: JournalTables, claim: KeyClaim): KeyState {
  const state = keyState(tables.findKey(claim.scope, claim.key), claim.argsHash);
  if (state.state === 'new') {
    const { scope, key, argsHash, callId } = claim;
    tables.insertKey({
      ...{ scope, key, args_hash: argsHash, call_id: callId, state: 'pending', answer: null },
      instance: claim.instance ?? null,
      rehearsal: claim.rehearsal === undefined ? null : JSON.stringify(claim.rehearsal),
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
export function settleKey(tables: JournalTables, settled: SettledKey): void {
  const { scope, key, answer, atMs } = settled;
  if (tables.findKey(scope, key)?.state !== 'pending') {
    throw contractViolation('Key is not waiting for an answer', { scope, reason: 'key_not_pending' });
  }
  tables.settleKey(scope, key, answer, atMs);
}

/** A key that is already free stays free; an answered one is never freed. */
export function releaseKey(tables: JournalTables, scope: string, key: string): void {
  const row = tables.findKey(scope, key);
  if (row?.state === 'done') throw contractViolation('Key has its answer already', { scope, reason: 'key_done' });
  if (row !== undefined) tables.deleteKey(scope, key);
}

export function pendingClaims(tables: JournalTables, callId: string): readonly KeyClaim[] {
  return tables.pendingKeys(callId).map((row) => {
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
