/**
 * The two records around an effect: what is about to happen, and what came of it.
 *
 * If the intent cannot be written, the effect does not happen. No answer leaves before the result is written; if that
 * fails, a recovery marker says so, the caller learns that the effect may have happened, and until the marker is on
 * record nothing unsafe to repeat may start in this session.
 */
import type { ErrorEntry, JsonValue, ToolError } from '@tool-runtime/protocol';
import { failure } from '../contracts/failures.ts';
import type { IntentRecord, JournalRecord, KeyClaim, ResultRecord } from '../contracts/journal.ts';
import type { FileSnapshot } from '../contracts/workspace.ts';
import { maskEntry } from '../redaction/redact-error.ts';
import type { AdmittedCall, Execution, Outcome, RecordedCall } from './state/call-types.ts';
import type { IdentityParts, RecordingParts } from './state/session-parts.ts';
import { settle } from './state/settle.ts';
import { handOver, noteDecision, writeTrail } from './state/trail.ts';
import { keyTakenMeanwhile, refuseUsedKey } from './state/used-key.ts';

/** A switch of branches may touch any number of files; the commits say which. */
const MAX_FILES = 1000;

export async function recordIntent(call: AdmittedCall, parts: IdentityParts & RecordingParts): Promise<RecordedCall> {
  const { trail, callId } = call.open;
  const effectId = `effect.${callId}`;
  const before = trail.length;
  noteDecision(call.open, call.decision, parts);
  trail.push(intentRecord(call, effectId, parts));
  try {
    await (call.claim === undefined ? writeTrail(call.open, parts) : claimKey(call, call.claim, parts));
  } catch (error) {
    // The refusal that follows writes the trail; it must not say that something was about to happen.
    trail.splice(before);
    throw error;
  }
  return { ...call, effectId };
}

/** Key and intent in one step. Someone may have taken the key since the look-up; then nothing was appended. */
async function claimKey(call: AdmittedCall, claim: KeyClaim, parts: IdentityParts & RecordingParts): Promise<void> {
  const take = async (records: readonly JournalRecord[]): Promise<void> => {
    const state = await parts.journal.claim(claim, records);
    refuseUsedKey(state);
    if (state.state === 'done') throw keyTakenMeanwhile(state.callId);
  };
  await handOver(call.open, take, parts);
}

function intentRecord(call: AdmittedCall, effectId: string, parts: IdentityParts & RecordingParts): IntentRecord {
  const { callId, sessionId, request } = call.open;
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
    ...(call.claim?.rehearsal === undefined ? {} : { changes: call.claim.rehearsal.changes }),
  };
}

export async function recordResult(
  call: RecordedCall,
  execution: Execution,
  outcome: Outcome,
  parts: IdentityParts & RecordingParts,
): Promise<Outcome> {
  const record = resultRecord(call, execution, outcome);
  const { time, callId, sessionId } = call.open;
  const written = await settle(() => time.wait('record', () => write(call, record, outcome, parts)));
  if (written.ok) return outcome;
  const marker = {
    kind: 'recovery',
    at_ms: parts.clock.now(),
    call_id: callId,
    session_id: sessionId,
    reason: 'result_append_failed',
    classification: call.claim !== undefined || record.status !== 'completed' ? 'reconcile' : 'repair',
  } as const;
  const marked = await settle(() => time.wait('record', () => parts.recovery.note(marker, { blocks: true })));
  const readOnly = call.mutationClass === 'read_only';
  return unrecorded(outcome, written.error, { marked: marked.ok && marked.value, readOnly });
}

function write(
  call: RecordedCall,
  record: ResultRecord,
  outcome: Outcome,
  parts: IdentityParts & RecordingParts,
): Promise<void> {
  const { claim } = call;
  return parts.recovery.carry([record], (records) => {
    // An unknown outcome must not be replayed as if it were one: its key stays pending until reconciled.
    if (claim === undefined || outcome.status === 'unknown') return parts.journal.append(records);
    return parts.journal.settle(claim.scope, claim.key, answerOf(outcome, call, parts), records);
  });
}

function answerOf(outcome: Outcome, call: RecordedCall, { redactor }: RecordingParts) {
  const count = { ...call.open.masks };
  const warnings = call.open.warnings.map((entry) => ({ ...maskEntry(entry, redactor, count) }));
  return {
    status: outcome.status,
    data: outcome.data,
    errors: outcome.errors.map((entry) => ({ ...entry })),
    warnings,
    ...(count.masked === 0 ? {} : { redacted: count.masked }),
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
    ...(call.open.masks.masked === 0 ? {} : { redacted: call.open.masks.masked }),
    ...(execution.facts === undefined ? {} : { details: execution.facts }),
    effect: { effect_id: call.effectId, ...(execution.error === undefined ? {} : { error_ref: execution.error.code }) },
  };
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
