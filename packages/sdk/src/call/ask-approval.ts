/** Takes the question to the approval broker. Returns edited arguments, if any; a missing yes is a refusal. */
import type { JsonObject } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import { APPROVAL_ANSWERS } from '../contracts/policy.ts';
import type { ApprovalDecision } from '../policy/approval-decision.ts';
import { announceApproval } from './call-events.ts';
import type { JudgedCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';
import { type Settled, settle } from './settle.ts';
import { noteDecision, writeTrail } from './trail.ts';

/** `edits` counts how often the arguments were edited before: each round is a question of its own, with its own id. */
export async function askApproval(
  call: JudgedCall,
  edits: number,
  parts: SessionParts,
): Promise<JsonObject | undefined> {
  const { open, view, decision } = call;
  noteDecision(open, decision, parts);
  // The question is on record before anybody hears it.
  await writeTrail(open, parts);
  const approvalId = edits === 0 ? `approval.${open.callId}` : `approval.${open.callId}.${edits + 1}`;
  const about = { approval_id: approvalId, tool: view.tool, summary: view.argsSummary };
  let isAsked = false;
  const decided = await settle(() =>
    parts.broker.decide(
      {
        approvalId,
        call: view,
        reason: decision.code,
        allowedAnswers: APPROVAL_ANSWERS,
        timeoutMs: parts.registry.limits.approval_timeout_ms,
      },
      open.signal(),
      () => {
        isAsked = true;
        open.time.askPerson(parts.registry.limits.approval_timeout_ms);
        announceApproval(open, { event: 'ApprovalRequested', data: { ...about, reason: decision.code } }, parts);
      },
    ),
  );
  open.time.personAnswered();
  if (isAsked) {
    announceApproval(open, { event: 'ApprovalAnswered', data: { ...about, ...answerOf(decided, parts) } }, parts);
  }
  if (!decided.ok) throw decided.error;
  return argsOf(decided.value, parts);
}

/** An answer that could not be recorded does not count, so it is announced as the no that it comes to. */
function answerOf(decided: Settled<ApprovalDecision>, parts: SessionParts): Record<string, string> {
  if (!decided.ok) return { answer: 'denied', reason: 'approval.unrecorded' };
  const { value } = decided;
  const words = [value.approved ? undefined : value.code, value.reason].filter((part) => part !== undefined);
  return {
    answer: value.approved ? value.answer : 'denied',
    ...(value.by === undefined ? {} : { by: value.by }),
    ...(words.length === 0 ? {} : { reason: parts.redact(words.join(': ')) }),
  };
}

function argsOf(decided: ApprovalDecision, parts: SessionParts): JsonObject | undefined {
  if (decided.approved) return decided.args;
  const said = decided.reason === undefined ? '' : `: ${parts.redact(decided.reason)}`;
  throw policyDenial(`Approval was not given: ${decided.message}${said}`, {
    details: { gate: 'approval', reason: decided.code, next: decided.next },
  });
}
