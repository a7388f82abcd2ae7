/** The last word before the answer: "after" hooks may rewrite the data, the policy may withhold it, errors are redacted. */
import type { JsonValue, ToolError } from '@tool-runtime/protocol';
import { failure } from '../contracts/failures.ts';
import { redactEntry } from '../redaction/redact-error.ts';
import { isOk, type Outcome, type RecordedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';
import { settle } from './state/settle.ts';
import { shownData } from './state/shown-data.ts';

export async function finishCall(call: RecordedCall, outcome: Outcome, parts: SessionParts): Promise<Outcome> {
  if (!isOk(outcome)) return outcome;
  const { time } = call.open;
  const rewritten = await settle(() => time.wait('output', () => rewriteData(call, outcome.data, parts)));
  if (!rewritten.ok) return withheld(outcome, rewritten.error, parts);
  const judged = await settle(() => time.wait('output', () => judgeOutput(call, rewritten.value, parts)));
  if (!judged.ok) return withheld(outcome, judged.error, parts);
  return rewritten.value === outcome.data ? outcome : { ...outcome, data: rewritten.value };
}

async function rewriteData(call: RecordedCall, data: JsonValue, parts: SessionParts): Promise<JsonValue> {
  if (parts.hooks.isEmpty) return data;
  const answer = await parts.hooks.runAfter(call.view, data);
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

async function judgeOutput(call: RecordedCall, data: JsonValue, parts: SessionParts): Promise<void> {
  const outcome = await parts.policy.evaluatePostTool(call.view, data);
  const { decision } = outcome;
  if (decision.type === 'allow') return;
  throw failure('policy_denial', 'not_retryable', `Policy withheld the result: ${decision.reason.code}`, {
    details: { gate: 'policy', stage: 'post_tool', reason: decision.reason.code, effect: 'the tool did run' },
  });
}

/** The effect stands and is on record; only its data is kept back. */
function withheld(outcome: Outcome, error: ToolError, { redactor }: SessionParts): Outcome {
  return { ...outcome, data: null, errors: [redactEntry(error.toEntry(), redactor)] };
}
