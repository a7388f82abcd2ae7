/** Takes the question to the approval broker. Returns edited arguments, if any; a missing yes is a refusal. */
import type { JsonObject } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import { APPROVAL_ANSWERS } from '../contracts/policy.ts';
import type { JudgedCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';
import { noteDecision, writeTrail } from './trail.ts';

export async function askApproval(call: JudgedCall, parts: SessionParts): Promise<JsonObject | undefined> {
  noteDecision(call.open, call.decision, parts);
  // The question is on record before anybody hears it.
  await writeTrail(call.open, parts);
  const decided = await parts.broker.decide(
    {
      approvalId: `approval.${call.open.callId}`,
      call: call.view,
      reason: call.decision.code,
      allowedAnswers: APPROVAL_ANSWERS,
      timeoutMs: parts.registry.limits.approval_timeout_ms,
    },
    call.open.signal(),
  );
  if (decided.approved) return decided.args;
  throw policyDenial(`Approval was not given: ${decided.message}`, {
    details: { gate: 'approval', reason: decided.code, next: decided.next },
  });
}
