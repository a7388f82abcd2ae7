/**
 * One conversation with the approver: bounded in time, ended by a cancel, and read strictly.
 *
 * Only the exact words count, and an extension does not count as an approver of its own call. Nothing here throws.
 */
import { isJsonObject } from '@tool-runtime/protocol';
import { failure } from '../contracts/failures.ts';
import { checkId } from '../contracts/identifiers.ts';
import {
  APPROVAL_ANSWERS,
  type ApprovalDispatcher,
  type ApprovalReply,
  type ApprovalRequest,
} from '../contracts/policy.ts';
import { type ApprovalDecision, refused } from './approval-decision.ts';

/** Timers beyond this fire at once. */
const MAX_TIMER_MS = 2_147_483_647;
const MAX_REASON_LENGTH = 500;

export async function contactApprover(
  request: ApprovalRequest,
  dispatcher: ApprovalDispatcher,
  signal: AbortSignal,
): Promise<ApprovalDecision> {
  if (signal.aborted) return refused('approval.cancelled');
  const stop = new AbortController();
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<ApprovalDecision>();
  // The refusal is settled before the dispatcher hears of the end, so nothing it does then can win the race.
  const onCancel = (): void => {
    interrupt(refused('approval.cancelled'));
    stop.abort(signal.reason);
  };
  const onTimeout = (): void => {
    interrupt(refused('approval.timeout'));
    stop.abort(failure('timeout', 'retryable', `Approval timed out: ${request.call.tool}`));
  };
  const timer = setTimeout(onTimeout, Math.min(request.timeoutMs, MAX_TIMER_MS));
  signal.addEventListener('abort', onCancel, { once: true });
  try {
    return await Promise.race([interrupted, askDispatcher(request, dispatcher, stop.signal)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onCancel);
  }
}

/** An exception stops here because it is an answer: an approver that breaks has not approved. */
async function askDispatcher(
  request: ApprovalRequest,
  dispatcher: ApprovalDispatcher,
  signal: AbortSignal,
): Promise<ApprovalDecision> {
  try {
    // A copy: what the approver does to it must not change the call that waits.
    const call = { ...request.call, args: structuredClone(request.call.args) };
    return readReply(await dispatcher.ask({ ...request, call }, signal), request);
  } catch {
    return refused('approval.unavailable');
  }
}

function readReply(reply: ApprovalReply, { call, allowedAnswers }: ApprovalRequest): ApprovalDecision {
  if (!isWellFormed(reply)) return refused('approval.disallowed_answer');
  const { answer, by } = reply;
  const reason = reply.reason?.slice(0, MAX_REASON_LENGTH).toWellFormed();
  if (call.source.kind === 'extension' && by === call.source.id) return refused('approval.self_answer', by, reason);
  if (!allowedAnswers.includes(answer)) return refused('approval.disallowed_answer', by, reason);
  if (answer === 'denied') return refused('approval.denied', by, reason);
  return {
    approved: true,
    answer,
    by,
    ...(reason === undefined ? {} : { reason }),
    ...(reply.args === undefined ? {} : { args: structuredClone(reply.args) }),
    remembered: false,
  };
}

/** The reply may come from another process or another language, whatever its type says. */
function isWellFormed(reply: ApprovalReply): boolean {
  if (typeof reply !== 'object' || reply === null || !APPROVAL_ANSWERS.includes(reply.answer)) return false;
  if (reply.reason !== undefined && typeof reply.reason !== 'string') return false;
  if (reply.args !== undefined && !isJsonObject(reply.args)) return false;
  try {
    checkId(reply.by, 'reply.by');
    return true;
  } catch {
    return false; // Why the name is bad does not matter: the answer has no author.
  }
}
