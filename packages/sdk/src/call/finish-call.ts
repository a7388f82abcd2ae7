/**
 * The end of a call: "after" hooks may rewrite the data and the policy may withhold it; then listeners, metrics, budgets
 * and the span learn how the call ended, and the one answer is built.
 */
import { type JsonValue, type ToolError, type ToolResponse, toToolError } from '@tool-runtime/protocol';
import { completeRefusal, failure } from '../contracts/failures.ts';
import type { ToolPolicy } from '../contracts/policy.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { maskEntry } from '../redaction/redact-error.ts';
import type { OpenCall, Outcome, RecordedCall } from './state/call-types.ts';
import { viewOf } from './state/call-view.ts';
import type { IdentityParts, PolicyParts, RecordingParts, SessionParts } from './state/session-parts.ts';
import { isOk, settle, shownData } from './state/settle.ts';
import { announceEnd, announceViolation } from './state/trail.ts';

export function finishCall(call: RecordedCall, outcome: Outcome, parts: SessionParts): MaybePromise<Outcome> {
  const { hooks, policy } = parts;
  return !isOk(outcome) || (hooks.isEmpty && policy === undefined) ? outcome : judgeAnswer(call, outcome, parts);
}

async function judgeAnswer(call: RecordedCall, outcome: Outcome, parts: SessionParts): Promise<Outcome> {
  const { policy } = parts;
  const { time } = call.open;
  const rewritten = await settle(() => time.wait('output', () => rewriteData(call, outcome.data, parts)));
  if (!rewritten.ok) return withheld(call, outcome, rewritten.error, parts);
  const judged = await settle(() => time.wait('output', () => judgeOutput(call, rewritten.value, policy, parts)));
  if (!judged.ok) return withheld(call, outcome, judged.error, parts);
  return rewritten.value === outcome.data ? outcome : { ...outcome, data: rewritten.value };
}

async function rewriteData(
  call: RecordedCall,
  data: JsonValue,
  parts: IdentityParts & PolicyParts & RecordingParts,
): Promise<JsonValue> {
  if (parts.hooks.isEmpty) return data;
  const answer = await parts.hooks.runAfter(viewOf(call, parts), data);
  if (answer.type === 'pass') return data;
  if (answer.type === 'deny') throw answer.error;
  await parts.journal.append(
    answer.hooks.map((hook) => ({
      kind: 'hook' as const,
      call_id: call.open.callId,
      session_id: call.open.sessionId,
      at_ms: parts.clock.now(),
      hook,
      action: 'rewrote_result' as const,
    })),
  );
  return shownData(call, answer.data, parts);
}

async function judgeOutput(
  call: RecordedCall,
  data: JsonValue,
  policy: ToolPolicy | undefined,
  parts: IdentityParts,
): Promise<void> {
  if (policy === undefined) return;
  const outcome = await policy.evaluatePostTool(viewOf(call, parts), data);
  const { decision } = outcome;
  if (decision.type === 'allow') return;
  throw failure('policy_denial', 'not_retryable', `Policy withheld the result: ${decision.reason.code}`, {
    details: { gate: 'policy', stage: 'post_tool', reason: decision.reason.code, effect: 'the tool did run' },
  });
}

/** The effect happened and is on record; only its data is withheld. */
function withheld(call: RecordedCall, outcome: Outcome, error: ToolError, { redactor }: RecordingParts): Outcome {
  const entry = maskEntry(completeRefusal(error).toEntry(), redactor, call.open.masks);
  return { ...outcome, data: null, errors: [entry] };
}

/** Tells listeners, metrics, budgets and the span how the call ended. */
export function emitOutcome(open: OpenCall, outcome: Outcome, parts: SessionParts): void {
  const tool = open.countedAs;
  parts.metrics.count(parts.sessionId, tool, outcome);
  const { bytes, durationMs, status } = outcome;
  for (const budget of parts.budgets) {
    try {
      budget.spend({ sessionId: parts.sessionId, callId: open.callId, tool }, { bytes, durationMs });
    } catch (thrown) {
      // The call is over and on record, so counting it cannot change it.
      parts.reportUnexpected(toToolError(thrown));
    }
  }
  parts.coordinator?.spend(open.callId, { bytes, durationMs, status });
  for (const entry of outcome.errors) announceViolation(open, entry, parts);
  // A tool that runs on after its deadline may still report; after this nothing is announced.
  announceEnd(open, { status: isOk(outcome) ? 'completed' : 'failed', outcome: outcome.status }, parts);
  open.span?.end({
    status: outcome.status,
    errorCode: outcome.status === 'cancelled' ? 'cancelled' : outcome.errors[0]?.code,
    durationMs: outcome.durationMs,
    bytes: outcome.bytes,
    filesTouched: outcome.changes.length,
    mutationClass: open.progress.mutationClass,
  });
}

/** The one terminal message of a call. */
export function buildResponse(open: OpenCall, outcome: Outcome, { redactor }: RecordingParts): ToolResponse {
  const warnings = open.warnings.map((entry) => maskEntry(entry, redactor, open.masks));
  const { masked } = open.masks;
  return {
    type: 'ToolResponse',
    ok: isOk(outcome),
    tool: open.request.tool,
    request_id: open.request.requestId,
    duration_ms: rounded(outcome.durationMs),
    ...(outcome.waitedMs === 0 ? {} : { waited_ms: rounded(outcome.waitedMs) }),
    data: outcome.data,
    errors: [...outcome.errors],
    warnings,
    ...(masked === 0 ? {} : { redacted: masked }),
    ...(open.progress.changeId === undefined ? {} : { change_id: open.progress.changeId }),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
