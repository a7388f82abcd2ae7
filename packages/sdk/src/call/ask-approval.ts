/** Takes the question to the approval broker. Returns edited arguments, if any; a missing yes is a refusal. */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import { APPROVAL_ANSWERS, type ApprovalEffect } from '../contracts/policy.ts';
import type { ApprovalDecision } from '../policy/contact-approver.ts';
import { shownArgs } from '../redaction/call-args.ts';
import { REDACTED } from '../redaction/find-values.ts';
import type { JudgedCall } from './state/call-types.ts';
import { viewOf } from './state/call-view.ts';
import type { SessionParts } from './state/session-parts.ts';
import { type Settled, settle } from './state/settle.ts';
import { announceApproval, noteDecision, writeTrail } from './state/trail.ts';
import { effectOf, scopeOf } from './tool-context/approval-effect.ts';

/** `edits` counts how often the arguments were edited before: each round is a question of its own, with its own id. */
export async function askApproval(
  call: JudgedCall,
  edits: number,
  parts: SessionParts,
): Promise<JsonObject | undefined> {
  const { open, decision, compiled } = call;
  const view = viewOf(call, parts);
  const shown = shownArgs(view.args, compiled.annotations.arg_schema, parts.redactor);
  noteDecision(open, decision, parts);
  // The question is recorded before it is asked.
  await writeTrail(open, parts);
  const approvalId = edits === 0 ? `approval.${open.callId}` : `approval.${open.callId}.${edits + 1}`;
  const [effect, scope] = [await effectOf(call, parts), scopeOf(call)];
  const about = { approval_id: approvalId, tool: view.tool, summary: view.argsSummary };
  let askedAt: number | undefined;
  const decided = await settle(() =>
    parts.broker.decide(
      {
        approvalId,
        call: { ...view, args: shown },
        ...(effect === undefined ? {} : { effect }),
        scope: scope.text,
        grantKey: scope.key,
        reason: decision.code,
        allowedAnswers: APPROVAL_ANSWERS,
        timeoutMs: parts.registry.limits.approval_timeout_ms,
      },
      open.signal(),
      () => {
        askedAt = parts.clock.monotonic();
        open.time.askPerson(parts.registry.limits.approval_timeout_ms);
        announceApproval(
          open,
          {
            event: 'ApprovalRequested',
            data: { ...about, reason: decision.code, ...shownEffect(effect), scope: scope.text },
          },
          parts,
        );
      },
    ),
  );
  open.time.personAnswered();
  if (askedAt !== undefined) {
    open.progress.waitedMs += parts.clock.monotonic() - askedAt;
    announceApproval(open, { event: 'ApprovalAnswered', data: { ...about, ...answerOf(decided, parts) } }, parts);
  }
  if (!decided.ok) throw decided.error;
  const edited = argsOf(decided.value, parts);
  return edited && uncover(edited, { shown, sent: call.subject.args });
}

function shownEffect(effect: ApprovalEffect | undefined): Record<string, string> {
  return effect === undefined ? {} : { effect: effect.text, effect_kind: effect.kind };
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
