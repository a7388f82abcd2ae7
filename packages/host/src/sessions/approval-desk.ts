/**
 * Questions that wait for an answer from outside. The first answer wins; a later one is refused and names the first.
 * Timeouts and cancellation are the broker's: it aborts, and the question leaves the desk.
 */
import { type ApprovalAnswer, type ApprovalAnswered, type PendingApproval, ToolError } from '@tool-runtime/protocol';
import type { ApprovalDispatcher, ApprovalReply, ApprovalRequest } from '@tool-runtime/sdk';
import { type Principal, requireScope } from '../auth/principal.ts';

/** Enough that two people who look at the same list are told what happened. */
const REMEMBERED = 1000;

export interface ApprovalDesk extends ApprovalDispatcher {
  list(principal: Principal): readonly PendingApproval[];
  answer(answer: Omit<ApprovalAnswer, 'type'>, principal: Principal): ApprovalAnswered;
  /** Whether it waits here, or was answered here not long ago. */
  knows(id: string): boolean;
  readonly size: number;
}

/** The desks of other hosts. `answer` resolves with undefined when none of them knows the question. */
export interface OtherDesks {
  list(by: string): Promise<readonly PendingApproval[]>;
  answer(answer: Omit<ApprovalAnswer, 'type'>, by: string): Promise<ApprovalAnswered | undefined>;
}

export interface ApprovalDeskOptions {
  readonly now: () => number;
}

interface Question {
  readonly view: PendingApproval;
  reply(reply: ApprovalReply): void;
}

export function createApprovalDesk(options: ApprovalDeskOptions): ApprovalDesk {
  const open = new Map<string, Question>();
  const answered = new Map<string, ApprovalAnswered>();

  function remember(answer: ApprovalAnswered): void {
    answered.set(answer.approval_id, answer);
    for (const oldest of answered.keys()) {
      if (answered.size <= REMEMBERED) break;
      answered.delete(oldest);
    }
  }

  return {
    get size() {
      return open.size;
    },
    knows: (id) => open.has(id) || answered.has(id),
    async ask(request, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<ApprovalReply>();
      const leave = (): void => {
        open.delete(request.approvalId);
        reject(signal.reason);
      };
      open.set(request.approvalId, { view: viewOf(request, options.now()), reply: resolve });
      signal.addEventListener('abort', leave, { once: true });
      try {
        if (signal.aborted) leave();
        return await promise;
      } finally {
        open.delete(request.approvalId);
        signal.removeEventListener('abort', leave);
      }
    },
    list(principal) {
      requireScope(principal, 'approve');
      return Array.from(open.values(), ({ view }) => view);
    },
    answer({ approval_id, answer, reason, args }, principal) {
      requireScope(principal, 'approve');
      const question = open.get(approval_id);
      if (question === undefined) throw tooLate(approval_id, answered.get(approval_id));
      const given: ApprovalAnswered = { approval_id, answer, by: principal.name };
      open.delete(approval_id);
      remember(given);
      question.reply({
        answer,
        by: principal.name,
        ...(reason === undefined ? {} : { reason }),
        ...(args === undefined ? {} : { args }),
      });
      return given;
    },
  };
}

function viewOf(
  { approvalId, call, effect, scope, reason, allowedAnswers, timeoutMs }: ApprovalRequest,
  now: number,
): PendingApproval {
  return {
    approval_id: approvalId,
    session_id: call.sessionId,
    call_id: call.callId,
    tool: call.tool,
    args: call.args,
    summary: call.argsSummary,
    paths: call.paths,
    ...(effect === undefined ? {} : { effect }),
    ...(scope === undefined ? {} : { scope }),
    actor: call.actor,
    reason,
    allowed_answers: allowedAnswers,
    asked_at: Math.floor(now / 1000),
    expires_at: Math.ceil((now + timeoutMs) / 1000),
  };
}

function tooLate(id: string, given: ApprovalAnswered | undefined): ToolError {
  if (given !== undefined) {
    return new ToolError('E_POLICY', `Approval was answered already, by ${given.by}: ${given.answer}`, {
      details: { gate: 'approval', reason: 'already_answered', approval_id: id, answer: given.answer, by: given.by },
    });
  }
  return new ToolError('E_POLICY', 'No such approval waits for an answer', {
    details: {
      gate: 'approval',
      reason: 'unknown_approval',
      approval_id: id,
      next: 'list the approvals; this one may have timed out or its call was cancelled',
    },
  });
}
