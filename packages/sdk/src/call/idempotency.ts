/**
 * Calls with a key. A key that was used before is answered from the record, or refused; it never causes a second effect.
 * A call may carry both keys: the idempotency key is looked up first, and both are claimed and settled in one step.
 *
 * The key of a call whose process died is decided by comparison: everything as the call intended means that it happened,
 * and its answer is given; everything as before means that it did not, and it runs now; anything else is refused. For
 * that, a call with a key is rehearsed under its locks: what it is about to change and would answer goes on record with
 * the intent. A call that cannot be rehearsed runs all the same; if it is lost, its outcome stays unknown.
 */
import { type ErrorEntry, isToolError, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { TerminalStatus } from '../contracts/classes.ts';
import type { KeyClaim, KeyState } from '../contracts/journal.ts';
import type { Rehearsal } from '../contracts/rehearsal.ts';
import { compareRehearsal } from '../journal/compare-rehearsal.ts';
import { releaseLost, settleLost } from '../journal/recover-claim.ts';
import type { BatchKey, JudgedCall, Outcome } from './state/call-types.ts';
import { lookOnly } from './state/git-view.ts';
import type { SessionParts } from './state/session-parts.ts';
import { settle, shownData, timesOf } from './state/settle.ts';
import { noteDecision, writeTrail } from './state/trail.ts';
import { outcomeUnknown, refuseUsedKey } from './state/used-key.ts';
import { rootOf, subjectReader } from './tool-context/read-path.ts';
import { RehearsedCall } from './tool-context/rehearsal-context.ts';

export interface ReplayCheck {
  readonly claims: readonly KeyClaim[];
  /** The recorded answer of an earlier call with one of these keys. */
  readonly recorded: { readonly callId: string; readonly answer: JsonValue } | undefined;
}

export async function checkReplay(call: JudgedCall, parts: SessionParts): Promise<ReplayCheck> {
  const claims = claimsOf(call, parts);
  for (const claim of claims) {
    const state = await currentState(call, claim, parts);
    refuseUsedKey(state);
    if (state.state === 'done') return { claims, recorded: state };
  }
  return { claims, recorded: undefined };
}

/**
 * Keys outlive sessions, so that a client may retry after a crash; idempotency keys never cross from one actor to another. What a
 * call of a transaction did is gone when that is given up, so its keys hold inside the transaction and nowhere else.
 */
export function claimsOf({ open, argsHash }: JudgedCall, parts: SessionParts): readonly KeyClaim[] {
  const { idempotencyKey, dedupeKey, batchKey, recordOf } = open.request;
  const { transaction } = parts;
  const id = recordOf ?? (isToolError(transaction) ? undefined : transaction?.id);
  const within = id === undefined ? '' : `transaction:${id}:`;
  const rest = { argsHash, callId: open.callId, instance: parts.instanceId };
  return [
    ...(batchKey === undefined ? [] : [{ ...rest, scope: batchScope(parts), ...batchKey }]),
    ...(idempotencyKey === undefined
      ? []
      : [{ scope: `${within}idempotency:${parts.actor}`, key: idempotencyKey, ...rest }]),
    ...(dedupeKey === undefined ? [] : [{ scope: `${within}dedupe`, key: dedupeKey, ...rest }]),
  ];
}

/** Whether an atomic batch of this key is on record, ended or not. */
export async function isKnownBatch({ key, argsHash }: BatchKey, parts: SessionParts): Promise<boolean> {
  return (await parts.journal.lookup(batchScope(parts), key, argsHash)).state !== 'new';
}

function batchScope({ actor }: SessionParts): string {
  return `batch:${actor}`;
}

async function currentState(call: JudgedCall, claim: KeyClaim, parts: SessionParts): Promise<KeyState> {
  const { scope, key, argsHash } = claim;
  const lookUp = () => parts.journal.lookup(scope, key, argsHash);
  const found = await lookUp();
  if (found.state !== 'pending' || !isLost(found, parts)) return found;
  // First on record; what can be compared without this session is settled along the way.
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
  if (call.mutationClass === 'read_only') {
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

interface RecordedAnswer {
  readonly status: TerminalStatus;
  readonly data: JsonValue;
  readonly errors: readonly ErrorEntry[];
  readonly warnings: readonly ErrorEntry[];
  readonly redacted?: number;
  readonly change_id?: string;
}

/** Answers a repeated key from the record. The repetition is itself recorded. */
export async function recordReplay(call: JudgedCall, answer: JsonValue, parts: SessionParts): Promise<Outcome> {
  const { open } = call;
  noteDecision(open, { outcome: 'allow', gate: 'idempotency', code: 'answered_from_record' }, parts);
  await open.time.wait('record', () => writeTrail(open, parts));
  const recorded = answer as JsonObject & RecordedAnswer;
  open.warnings.push(...recorded.warnings);
  open.masks.masked += recorded.redacted ?? 0;
  open.progress.changeId = recorded.change_id;
  return {
    status: recorded.status,
    data: recorded.data,
    errors: recorded.errors,
    changes: [],
    bytes: 0,
    endedAt: parts.clock.now(),
    ...timesOf(open, parts),
  };
}

/** The claims, with the rehearsal where there is one. Ends with the call's time, like every stage. */
export async function rehearseCall(
  call: JudgedCall,
  claims: readonly KeyClaim[],
  parts: SessionParts,
): Promise<readonly KeyClaim[]> {
  const { rehearse = 'none' } = call.compiled.tool;
  if (rehearse === 'none' || call.mutationClass === 'read_only') return claims;
  const rehearsed = await settle(() => rehearsalOf(call, parts));
  const rehearsal = rehearsed.ok ? rehearsed.value : undefined;
  return rehearsal === undefined ? claims : claims.map((claim) => ({ ...claim, rehearsal }));
}

async function rehearsalOf(call: JudgedCall, parts: SessionParts): Promise<Rehearsal | undefined> {
  const { tool } = call.compiled;
  const context = new RehearsedCall(call, parts);
  const data: unknown = await (typeof tool.rehearse === 'function'
    ? tool.rehearse(call.subject.args, context)
    : tool.run(call.subject.args, context));
  if (context.changes.length === 0) return undefined;
  const answered = data === undefined ? null : (tool.data.parse(data) as JsonValue);
  const answer = rehearsedAnswer(shownData(call, answered, parts), parts);
  return { root: await rootOf(parts.workspace), changes: context.changes, answer };
}

/** "After" rules run after the effect: when the answer is given by comparison, they may not have run. */
function rehearsedAnswer(data: JsonValue, parts: SessionParts): JsonObject {
  const warnings = parts.rules.has('after') ? [{ ...NOT_CHECKED }] : [];
  return { status: 'completed', data, errors: [], warnings };
}

const NOT_CHECKED: ErrorEntry = {
  code: 'E_VALIDATION_FAIL',
  message: 'The process died after this change was made; the rules of the after phase may not have checked it',
  details: { gate: 'rule', reason: 'rules_not_run', next: 'run validate on what it changed' },
};
