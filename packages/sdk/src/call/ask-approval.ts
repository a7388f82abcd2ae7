/** Asks about a call before it runs. Returns edited arguments, if any; a missing yes is a refusal. */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import { APPROVAL_ANSWERS } from '../contracts/policy.ts';
import { REDACTED } from '../redaction/find-values.ts';
import type { JudgedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';
import { noteDecision, writeTrail } from './state/trail.ts';
import { effectOf } from './tool-context/approval-effect.ts';
import { putQuestion } from './tool-context/put-question.ts';

/** `edits` counts how often the arguments were edited before: each round is a question of its own, with its own id. */
export async function askApproval(
  call: JudgedCall,
  edits: number,
  parts: SessionParts,
): Promise<JsonObject | undefined> {
  const { open, decision } = call;
  noteDecision(open, decision, parts);
  // The question is recorded before it is asked.
  await writeTrail(open, parts);
  const effect = await effectOf(call, parts);
  const { shown, edited } = await putQuestion(call, { before: edits, effect, answers: APPROVAL_ANSWERS }, parts);
  return edited && uncover(edited, { shown, sent: call.subject.args });
}

/**
 * Approvers are not shown secrets, so what they leave as it was shown is what was sent. A text that was changed around
 * a covered secret cannot be put together again: it is refused instead of running with the cover in it.
 */
function uncover(
  edited: JsonObject,
  { shown, sent }: { readonly shown: JsonObject; readonly sent: JsonObject },
): JsonObject {
  return uncovered(edited, shown, sent) as JsonObject;
}

function uncovered(edited: JsonValue, shown: JsonValue | undefined, sent: JsonValue | undefined): JsonValue {
  if (typeof edited === 'string') {
    if (edited === shown && typeof sent === 'string') return sent;
    if (edited.includes(REDACTED) && edited !== sent) throw coveredSecret();
    return edited;
  }
  if (Array.isArray(edited)) {
    const [before, original] = [Array.isArray(shown) ? shown : [], Array.isArray(sent) ? sent : []];
    return edited.map((item: JsonValue, at) => uncovered(item, before[at], original[at]));
  }
  if (!isJsonObject(edited)) return edited;
  const [before, original] = [isJsonObject(shown) ? shown : {}, isJsonObject(sent) ? sent : {}];
  const entries = Object.entries(edited).map(([name, item]): [string, JsonValue] => [
    name,
    uncovered(item, before[name], original[name]),
  ]);
  return Object.fromEntries(entries);
}

function coveredSecret() {
  return policyDenial(`Edited arguments hold ${REDACTED} in the place of a secret`, {
    details: {
      gate: 'approval',
      reason: 'approval.covered_secret',
      next: 'leave the argument with the secret as it was shown, or write it anew',
    },
  });
}
