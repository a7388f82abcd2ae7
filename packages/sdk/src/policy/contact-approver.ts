/**
 * One conversation with the approver: bounded in time, ended by a cancel, and read strictly.
 *
 * Only the exact answers count, and an extension cannot approve its own call. Nothing here throws.
 */
import { isJsonObject, type JsonObject } from '@tool-runtime/protocol';
import { failure } from '../contracts/failures.ts';
import { checkId } from '../contracts/identifiers.ts';
import {
  APPROVAL_ANSWERS,
  type ApprovalDispatcher,
  type ApprovalReply,
  type ApprovalRequest,
} from '../contracts/policy.ts';

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

/** An exception counts as an answer: an approver that fails has not approved. */
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

type ApprovalDenialCode =
  | 'missing.approval_dispatcher'
  | 'approval.timeout'
  | 'approval.cancelled'
  | 'approval.unavailable'
  | 'approval.disallowed_answer'
  | 'approval.self_answer'
  | 'approval.denied';

interface ApprovalGiven {
  readonly approved: true;
  readonly answer: 'approved' | 'approved_for_session';
  readonly by: string;
  readonly reason?: string;
  /** Edited arguments: judge them from the start before anything runs. */
  readonly args?: JsonObject;
  /** An earlier yes for the session answered; the approver was not asked now. */
  readonly remembered: boolean;
}

interface ApprovalRefused {
  readonly approved: false;
  readonly code: ApprovalDenialCode;
  readonly message: string;
  readonly next: string;
  readonly by?: string;
  readonly reason?: string;
}

export type ApprovalDecision = ApprovalGiven | ApprovalRefused;

const EXPLAINED: Readonly<Record<ApprovalDenialCode, readonly [message: string, next: string]>> = {
  'missing.approval_dispatcher': ['no approver is connected', 'connect an approver, or list the tool'],
  'approval.timeout': ['no answer came in time', 'ask again when an approver is available'],
  'approval.cancelled': ['the call was cancelled', 'call again if it is still wanted'],
  'approval.unavailable': ['the approver could not be reached', 'try again when the approver works'],
  'approval.disallowed_answer': ['the answer is not one that was offered', 'answer with one of the offered words'],
  'approval.self_answer': ['the asking extension answered itself', 'let someone else answer'],
  'approval.denied': ['the approver said no', 'do something else, or ask the approver why'],
};

/** The outcome of a question for approval: a yes with its author, or a no with a code that says which kind. */
export function refused(code: ApprovalDenialCode, by?: string, reason?: string): ApprovalRefused {
  const [message, next] = EXPLAINED[code];
  return {
    approved: false,
    code,
    message,
    next,
    ...(by === undefined ? {} : { by }),
    ...(reason === undefined ? {} : { reason }),
  };
}
