/** Puts a question about a call to the approval broker. Returns edited arguments, if any; a missing yes is a refusal. */
import type { JsonObject } from '@tool-runtime/protocol';
import { policyDenial } from '../../contracts/failures.ts';
import type { ApprovalAnswer, ApprovalEffect } from '../../contracts/policy.ts';
import type { ApprovalDecision } from '../../policy/contact-approver.ts';
import { shownArgs } from '../../redaction/call-args.ts';
import type { JudgedCall } from '../state/call-types.ts';
import { viewOf } from '../state/call-view.ts';
import type { SessionParts } from '../state/session-parts.ts';
import { type Settled, settle } from '../state/settle.ts';
import { announceApproval } from '../state/trail.ts';
import { scopeOf } from './asked-call.ts';

export interface Question {
  /** How many questions about the call came before: each has its own id. */
  readonly before: number;
  readonly effect: ApprovalEffect | undefined;
  readonly answers: readonly ApprovalAnswer[];
}

export interface Consent {
  /** The arguments as the approver saw them, secrets covered. */
  readonly shown: JsonObject;
  readonly edited: JsonObject | undefined;
}

export async function putQuestion(
  call: JudgedCall,
  { before, effect, answers }: Question,
  parts: SessionParts,
): Promise<Consent> {
  const { open, decision, compiled } = call;
  const view = viewOf(call, parts);
  const shown = shownArgs(view.args, compiled.annotations.arg_schema, parts.redactor);
  const approvalId = before === 0 ? `approval.${open.callId}` : `approval.${open.callId}.${before + 1}`;
  const scope = scopeOf(call);
  const lasting = answers.includes('approved_for_session') ? { scope: scope.text } : {};
  const about = { approval_id: approvalId, tool: view.tool, summary: view.argsSummary };
  let askedAt: number | undefined;
  const decided = await settle(() =>
    parts.broker.decide(
      {
        approvalId,
        call: { ...view, args: shown },
        ...(effect === undefined ? {} : { effect }),
        ...lasting,
        grantKey: scope.key,
        reason: decision.code,
        allowedAnswers: answers,
        timeoutMs: parts.registry.limits.approval_timeout_ms,
      },
      open.signal(),
      () => {
        askedAt = parts.clock.monotonic();
        open.time.askPerson(parts.registry.limits.approval_timeout_ms);
        const data = { ...about, reason: decision.code, ...shownEffect(effect), ...lasting };
        announceApproval(open, { event: 'ApprovalRequested', data }, parts);
      },
    ),
  );
  open.time.personAnswered();
  if (askedAt !== undefined) {
    open.progress.waitedMs += parts.clock.monotonic() - askedAt;
    announceApproval(open, { event: 'ApprovalAnswered', data: { ...about, ...answerOf(decided, parts) } }, parts);
  }
  if (!decided.ok) throw decided.error;
  return { shown, edited: argsOf(decided.value, parts) };
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
