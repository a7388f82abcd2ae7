/**
 * The two records around an effect: what is about to happen, and its outcome.
 *
 * If the intent cannot be written, the effect does not happen. No answer leaves before the result is written; if that
 * fails, a recovery marker says so, the caller learns that the effect may have happened, and until the marker is on
 * record nothing unsafe to repeat may start in this session.
 *
 * A call that can only read has no effect but its answer, so all its records are written together, before that answer
 * leaves. If they cannot be written, the answer is withheld and the call is refused.
 */
import type { ErrorEntry, JsonValue, ToolError } from '@tool-runtime/protocol';
import type { EffectClaim } from '../contracts/effect-ledger.ts';
import { failure } from '../contracts/failures.ts';
import type { IntentRecord, JournalRecord, KeyClaim, KeyState, ResultRecord } from '../contracts/journal.ts';
import type { FileSnapshot, MaybePromise } from '../contracts/workspace.ts';
import { maskEntry } from '../redaction/redact-error.ts';
import type { AdmittedCall, Execution, OpenCall, Outcome, RecordedCall } from './state/call-types.ts';
import { type AnsweredEffect, beginEffects, finishEffects, releaseEffects } from './state/effect-claims.ts';
import type { IdentityParts, RecordingParts } from './state/session-parts.ts';
import { andThen, settle } from './state/settle.ts';
import { handOver, noteDecision, writeTrail } from './state/trail.ts';
import { keyTakenMeanwhile, refuseUsedKey } from './state/used-key.ts';

/** A switch of branches may touch any number of files; the commits say which. */
const MAX_FILES = 1000;
/** From then on a read that still runs shows in the journal, also when its process dies. */
const SLOW_READ_MS = 100;

/** Where the ledger has the answer of the same call, nothing is recorded and that answer is given. */
export function recordIntent(
  call: AdmittedCall,
  parts: IdentityParts & RecordingParts,
): MaybePromise<RecordedCall | AnsweredEffect> {
  const { trail, callId } = call.open;
  const effectId = `effect.${callId}`;
  const before = trail.length;
  noteDecision(call.open, call.decision, parts);
  trail.push(intentRecord(call, effectId, parts));
  if (onlyReads(call) && parts.recovery.isEmpty)
    return { ...call, effectId, held: [], onSlow: () => writeIfSlow(call.open, parts) };
  return storeIntent(call, { effectId, before }, parts);
}

/** `before`: how long the trail was without the decision and the intent. */
async function storeIntent(
  call: AdmittedCall,
  { effectId, before }: { readonly effectId: string; readonly before: number },
  parts: IdentityParts & RecordingParts,
): Promise<RecordedCall | AnsweredEffect> {
  const { trail } = call.open;
  let held: readonly EffectClaim[] = [];
  try {
    const begun = await beginEffects(call, parts);
    if ('answer' in begun) {
      trail.splice(before);
      return begun;
    }
    held = begun;
    await (call.claims.length === 0 ? writeTrail(call.open, parts) : claimKeys(call, parts));
  } catch (error) {
    // The refusal that follows writes the trail; it must not say that something was about to happen.
    trail.splice(before);
    await releaseEffects(held);
    throw error;
  }
  return { ...call, effectId, held, onSlow: undefined };
}

/**
 * Whether the answer is the only effect of the call: what it is given cannot write, start a program or connect. Tools
 * that run elsewhere keep artifacts, so they are not among these, whatever level they have. While an earlier record is
 * missing, the journal has to take the intent first.
 */
function onlyReads({ claims, mutationClass, compiled, subject: { profile } }: AdmittedCall): boolean {
  return (
    claims.length === 0 &&
    compiled.executor === undefined &&
    mutationClass === 'read_only' &&
    profile.effect === 'read' &&
    (profile.side_effect_level === 'none' || profile.side_effect_level === 'read_only') &&
    !compiled.annotations.emits_artifacts
  );
}

/** Writes the records of a read once it takes long. The returned function ends that. */
function writeIfSlow(open: OpenCall, parts: IdentityParts & RecordingParts): () => void {
  const timer = setTimeout(() => {
    // What cannot be written is in the trail again, and is written with the result.
    if (open.trail.length > 0) open.progress.early = writeTrail(open, parts).catch(() => {});
  }, SLOW_READ_MS);
  return () => clearTimeout(timer);
}

/** Keys and intent in one step. Someone may have taken a key since the look-up; then nothing was appended. */
async function claimKeys({ open, claims }: AdmittedCall, parts: IdentityParts & RecordingParts): Promise<void> {
  const { journal } = parts;
  const [first, ...others] = claims as readonly [KeyClaim, ...KeyClaim[]];
  const claimAll = (records: readonly JournalRecord[]) =>
    journal.atomically(() => {
      // Inside such work the store answers synchronously, and a throw undoes the claims before.
      for (const claim of others) refuseTaken(journal.claim(claim, []) as KeyState);
      refuseTaken(journal.claim(first, records) as KeyState);
    });
  const take = async (records: readonly JournalRecord[]): Promise<void> => {
    if (others.length > 0) return claimAll(records);
    refuseTaken(await journal.claim(first, records));
  };
  await handOver(open, take, parts);
}

function refuseTaken(state: KeyState): void {
  refuseUsedKey(state);
  if (state.state === 'done') throw keyTakenMeanwhile(state.callId);
}

function intentRecord(call: AdmittedCall, effectId: string, parts: IdentityParts & RecordingParts): IntentRecord {
  const { callId, sessionId, request } = call.open;
  const rehearsal = call.claims[0]?.rehearsal;
  return {
    kind: 'intent',
    call_id: callId,
    session_id: sessionId,
    at_ms: parts.clock.now(),
    tool: call.subject.tool,
    args_hash: call.argsHash,
    retry_safe: call.mutationClass === 'read_only',
    instance: parts.instanceId,
    effect: {
      effect_id: effectId,
      kind: 'tool_execution',
      ...(request.idempotencyKey === undefined ? {} : { idempotency_key: request.idempotencyKey }),
      ...(request.dedupeKey === undefined ? {} : { dedupe_key: request.dedupeKey }),
    },
    ...(rehearsal === undefined ? {} : { changes: rehearsal.changes }),
  };
}

/** Throws ToolError when nothing of the call is on record and nothing can have happened: it is to be refused then. */
export function recordResult(
  call: RecordedCall,
  execution: Execution,
  outcome: Outcome,
  parts: IdentityParts & RecordingParts,
): MaybePromise<Outcome> {
  const record = resultRecord(call, execution, outcome);
  const { time, progress } = call.open;
  let isTogether = false;
  const writeBoth = (): Promise<void> => {
    isTogether = isIntentWaiting(call);
    return isTogether ? writeRead(call, record, parts) : write(call, record, outcome, parts);
  };
  const { early } = progress;
  const writing = settle(() => time.wait('record', () => (early === undefined ? writeBoth() : early.then(writeBoth))));
  return andThen(writing, (written) => {
    if (written.ok) return call.held.length === 0 ? outcome : tellLedger(call, outcome, parts);
    if (isTogether) throw written.error;
    return markUnrecorded(call, record, { outcome, error: written.error }, parts);
  });
}

async function markUnrecorded(
  call: RecordedCall,
  record: ResultRecord,
  { outcome, error }: { readonly outcome: Outcome; readonly error: ToolError },
  parts: IdentityParts & RecordingParts,
): Promise<Outcome> {
  const { time, callId, sessionId } = call.open;
  const marker = {
    kind: 'recovery',
    at_ms: parts.clock.now(),
    call_id: callId,
    session_id: sessionId,
    reason: 'result_append_failed',
    classification: call.claims.length > 0 || record.status !== 'completed' ? 'reconcile' : 'repair',
  } as const;
  const marked = await settle(() => time.wait('record', () => parts.recovery.note(marker, { blocks: true })));
  const readOnly = call.mutationClass === 'read_only';
  return unrecorded(outcome, error, { marked: marked.ok && marked.value, readOnly });
}

/** The outcome counts when the ledger has it. The journal of this host has it either way. */
async function tellLedger(
  call: RecordedCall,
  outcome: Outcome,
  parts: IdentityParts & RecordingParts,
): Promise<Outcome> {
  const told = await settle(() =>
    call.open.time.wait('record', () => finishEffects(call, outcome, () => answerOf(outcome, call, parts))),
  );
  if (told.ok) return outcome;
  return { ...outcome, status: 'unknown', data: null, errors: [told.error.toEntry()] };
}

function isIntentWaiting({ open: { trail } }: RecordedCall): boolean {
  return trail.some(({ kind }) => kind === 'intent');
}

/** All records of a call that only reads, in one step. */
function writeRead(call: RecordedCall, record: ResultRecord, parts: IdentityParts & RecordingParts): Promise<void> {
  const { trail } = call.open;
  trail.push(record);
  return writeTrail(call.open, parts).catch((error: unknown) => {
    // As for an intent: the refusal that follows must not say that the call was allowed and ran.
    trail.splice(trail.findIndex(({ kind }) => kind === 'intent') - 1);
    throw error;
  });
}

function write(
  call: RecordedCall,
  record: ResultRecord,
  outcome: Outcome,
  parts: IdentityParts & RecordingParts,
): Promise<void> {
  const { journal } = parts;
  const [first, ...others] = call.claims;
  return parts.recovery.carry([record], (records) => {
    // An unknown outcome must not be replayed as if it were one: its keys stay pending until reconciled.
    if (first === undefined || outcome.status === 'unknown') return journal.append(records);
    const answer = answerOf(outcome, call, parts);
    if (others.length === 0) return journal.settle(first.scope, first.key, answer, records);
    const settleAll = () => {
      for (const { scope, key } of others) void journal.settle(scope, key, answer, []);
      void journal.settle(first.scope, first.key, answer, records);
    };
    return journal.atomically(settleAll, { isKept: true });
  });
}

function answerOf(outcome: Outcome, call: RecordedCall, { redactor }: RecordingParts) {
  const count = { ...call.open.masks };
  const { changeId } = call.open.progress;
  const warnings = call.open.warnings.map((entry) => ({ ...maskEntry(entry, redactor, count) }));
  return {
    status: outcome.status,
    data: outcome.data,
    errors: outcome.errors.map((entry) => ({ ...entry })),
    warnings,
    ...(count.masked === 0 ? {} : { redacted: count.masked }),
    ...(changeId === undefined ? {} : { change_id: changeId }),
  };
}

function resultRecord(call: RecordedCall, execution: Execution, outcome: Outcome): ResultRecord {
  return {
    kind: 'result',
    call_id: call.open.callId,
    session_id: call.open.sessionId,
    at_ms: outcome.endedAt,
    tool: call.subject.tool,
    args_hash: call.argsHash,
    status: outcome.status,
    start_ts: call.open.startedAt,
    end_ts: outcome.endedAt,
    duration_ms: outcome.durationMs,
    ...(outcome.waitedMs === 0 ? {} : { waited_ms: outcome.waitedMs }),
    bytes: outcome.bytes,
    files: outcome.changes.slice(0, MAX_FILES).map(({ path, before, after }) => ({
      path,
      before: recordedContent(before),
      after: recordedContent(after),
    })),
    ...(outcome.changes.length > MAX_FILES ? { files_total: outcome.changes.length } : {}),
    errors: outcome.errors.map(withoutOutput),
    ...(call.compiled.annotations.emits_artifacts ? handlesIn(execution.data) : {}),
    ...(call.open.masks.masked === 0 ? {} : { redacted: call.open.masks.masked }),
    ...(execution.facts === undefined ? {} : { details: execution.facts }),
    effect: {
      effect_id: call.effectId,
      ...execution.effect,
      ...(execution.error === undefined ? {} : { error_ref: execution.error.code }),
    },
  };
}

const HANDLE = /^artifact:[0-9a-f]{32}$/;

function handlesIn(data: JsonValue): Pick<ResultRecord, 'artifacts'> {
  if (typeof data !== 'object' || data === null) return {};
  const artifacts = Object.values(data).filter((value) => typeof value === 'string' && HANDLE.test(value));
  return artifacts.length === 0 ? {} : { artifacts: artifacts as readonly string[] };
}

/** What a program printed is content: the caller gets it, the record says how much there was. */
function withoutOutput({ details, ...entry }: ErrorEntry): ErrorEntry {
  if (details === undefined) return entry;
  const shown = Object.entries(details).map(([key, value]): [string, JsonValue] =>
    OUTPUT_DETAILS.has(key) && typeof value === 'string' ? [`${key}_chars`, value.length] : [key, value],
  );
  return { ...entry, details: Object.fromEntries(shown) };
}

const OUTPUT_DETAILS: ReadonlySet<string> = new Set(['stdout', 'stderr']);

/** The digest; what has none is recorded as what it is, so that null always means "nothing there". */
function recordedContent(snapshot: FileSnapshot | null): string | null {
  if (snapshot === null || snapshot.sha256 !== null) return snapshot?.sha256 ?? null;
  if (snapshot.type === undefined) return 'unread';
  return snapshot.type === 'directory' ? 'folder' : snapshot.type;
}

function unrecorded(outcome: Outcome, cause: ToolError, state: { marked: boolean; readOnly: boolean }): Outcome {
  const error = failure(
    state.marked ? 'journal_failure' : 'recovery_repair_needed',
    'repair_needed',
    state.readOnly
      ? 'The read was made but its result could not be recorded'
      : 'The tool ran but its result could not be recorded; its effect may have happened',
    {
      details: {
        gate: 'journal',
        reason: 'recovery_required',
        next: 'check the state folder, then reconcile',
        why: cause.message,
      },
    },
  );
  return { ...outcome, status: 'unknown', data: null, errors: [error.toEntry()] };
}
