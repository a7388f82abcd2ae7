/**
 * Writes down what came out, before anybody is told.
 *
 * If that fails, a recovery marker says so, and the caller learns that the effect may have happened; until the marker
 * is on record, nothing unsafe to repeat may start in this session.
 */
import type { ErrorEntry, JsonValue, ToolError } from '@tool-runtime/protocol';
import type { EffectResult, RecordedResult } from '../contracts/effects.ts';
import { failure } from '../contracts/failures.ts';
import type { ResultRecord } from '../contracts/journal.ts';
import type { FileSnapshot } from '../contracts/workspace.ts';
import { toEffectResult } from '../package/execution-output.ts';
import { redactEntry } from '../redaction/redact-error.ts';
import type { Execution, Outcome, RecordedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';
import { settle } from './state/settle.ts';

/** A switch of branches may touch any number of files; the commits say which. */
const MAX_FILES = 1000;

export async function recordResult(
  call: RecordedCall,
  execution: Execution,
  outcome: Outcome,
  parts: SessionParts,
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
  const readOnly = call.view.mutationClass === 'read_only';
  return unrecorded(outcome, written.error, { marked: marked.ok && marked.value, readOnly });
}

function write(call: RecordedCall, record: ResultRecord, outcome: Outcome, parts: SessionParts): Promise<void> {
  const { claim } = call;
  return parts.recovery.carry([record], (records) => {
    // An unknown outcome must not be replayed as if it were one: its key stays pending until reconciled.
    if (claim === undefined || outcome.status === 'unknown') return parts.journal.append(records);
    return parts.journal.settle(claim.scope, claim.key, answerOf(outcome, call, parts), records);
  });
}

function answerOf(outcome: Outcome, call: RecordedCall, { redactor }: SessionParts) {
  return {
    status: outcome.status,
    data: outcome.data,
    errors: outcome.errors.map((entry) => ({ ...entry })),
    warnings: call.open.warnings.map((entry) => ({ ...redactEntry(entry, redactor) })),
  };
}

function resultRecord(call: RecordedCall, execution: Execution, outcome: Outcome): ResultRecord {
  return {
    kind: 'result',
    call_id: call.open.callId,
    session_id: call.open.sessionId,
    at_ms: outcome.endedAt,
    tool: call.view.tool,
    args_hash: call.argsHash,
    status: outcome.status,
    start_ts: call.open.startedAt,
    end_ts: outcome.endedAt,
    duration_ms: outcome.durationMs,
    bytes: outcome.bytes,
    files: outcome.changes.slice(0, MAX_FILES).map(({ path, before, after }) => ({
      path,
      before: recordedContent(before),
      after: recordedContent(after),
    })),
    ...(outcome.changes.length > MAX_FILES ? { files_total: outcome.changes.length } : {}),
    errors: outcome.errors.map(withoutOutput),
    ...(execution.facts === undefined ? {} : { details: execution.facts }),
    effect: recordedResult(toEffectResult(execution.output, call.intent.effect_id)),
  };
}

/** What a program printed is content: the caller gets it, the record says how much there was. */
function withoutOutput({ details, ...entry }: ErrorEntry): ErrorEntry {
  if (details === undefined) return entry;
  const told = Object.entries(details).map(([key, value]): [string, JsonValue] =>
    OUTPUT_DETAILS.has(key) && typeof value === 'string' ? [`${key}_chars`, value.length] : [key, value],
  );
  return { ...entry, details: Object.fromEntries(told) };
}

const OUTPUT_DETAILS: ReadonlySet<string> = new Set(['stdout', 'stderr']);

function recordedResult(result: EffectResult): RecordedResult {
  const { effect_id, external_operation_id, reconciliation_ref, error_ref } = result;
  return {
    effect_id,
    ...(external_operation_id === undefined ? {} : { external_operation_id }),
    ...(reconciliation_ref === undefined ? {} : { reconciliation_ref }),
    ...(error_ref === undefined ? {} : { error_ref }),
  };
}

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
