/**
 * Asks the approver, and turns everything but a clear yes into a no.
 *
 * The question is on record before anyone hears it, the answer before anything acts on it; an answer that cannot be
 * recorded blocks the call. A yes for the session is remembered here, for the scope that was shown, and dies with the session.
 */
import type { Clock } from '../contracts/clock.ts';
import { contractViolation, failure } from '../contracts/failures.ts';
import type { ApprovalRecord, JournalRecord } from '../contracts/journal.ts';
import {
  APPROVAL_ANSWERS,
  type ApprovalAnswer,
  type ApprovalDispatcher,
  type ApprovalRequest,
  type CallView,
} from '../contracts/policy.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { type ApprovalDecision, contactApprover, refused } from './contact-approver.ts';

export const DEFAULT_APPROVAL_TIMEOUT_MS = 120_000;

/** An id and a time limit are supplied where the caller leaves them out. */
export type ApprovalQuestion = Omit<ApprovalRequest, 'approvalId' | 'timeoutMs'> &
  Partial<Pick<ApprovalRequest, 'approvalId' | 'timeoutMs'>> & {
    /** Calls with the same key are covered by a yes for the session. Left out: calls of the same tool and weight. */
    readonly grantKey?: string;
  };

export interface ApprovalBroker {
  /** Whether there is an approver at all. */
  readonly hasApprover: boolean;
  /**
   * Throws only when the question is malformed or the journal fails; every other trouble is a refusal. `onAsk` is called
   * when an approver is really about to be asked: not for a yes that is remembered, nor when there is no approver.
   */
  decide(question: ApprovalQuestion, signal: AbortSignal, onAsk?: () => void): Promise<ApprovalDecision>;
  /** Forgets what was approved for the session, also by answers still under way. */
  revokeSession(sessionId: string): void;
}

export interface ApprovalBrokerOptions {
  readonly dispatcher?: ApprovalDispatcher | undefined;
  journalAppend(records: readonly JournalRecord[]): MaybePromise<void>;
  readonly clock: Clock;
  newId(): string;
}

export function createApprovalBroker(options: ApprovalBrokerOptions): ApprovalBroker {
  const grants = new Map<string, Set<string>>();
  return {
    hasApprover: options.dispatcher !== undefined,
    async decide(question, signal, onAsk) {
      const request = completeRequest(question, options);
      const { call, allowedAnswers } = request;
      const key = question.grantKey ?? grantKey(call);
      const granted = grantsOf(grants, call.sessionId);
      if (allowedAnswers.includes('approved_for_session') && granted.has(key)) {
        return { approved: true, answer: 'approved_for_session', by: 'session_grant', remembered: true };
      }
      if (options.dispatcher === undefined) return refused('missing.approval_dispatcher');
      await recordQuestion(request, options);
      onAsk?.();
      const decision = await contactApprover(request, options.dispatcher, signal);
      await recordAnswer(request, decision, options);
      if (decision.approved && decision.answer === 'approved_for_session' && decision.args === undefined) {
        granted.add(key);
      }
      return decision;
    },
    revokeSession(sessionId) {
      grants.delete(sessionId);
    },
  };
}

function completeRequest(question: ApprovalQuestion, { newId }: ApprovalBrokerOptions): ApprovalRequest {
  const timeoutMs = question.timeoutMs ?? DEFAULT_APPROVAL_TIMEOUT_MS;
  const { call, allowedAnswers } = question;
  if (call.tool === '') throw malformed('call.tool');
  if (call.argsSummary === '') throw malformed('call.argsSummary');
  if (call.policyRefs.length === 0) throw malformed('call.policyRefs');
  const known = allowedAnswers.every((answer) => APPROVAL_ANSWERS.includes(answer));
  if (allowedAnswers.length === 0 || !known) throw malformed('allowedAnswers');
  if (!(timeoutMs > 0)) throw malformed('timeoutMs');
  const { grantKey: _, ...asked } = question;
  return { ...asked, approvalId: question.approvalId ?? newId(), timeoutMs };
}

function malformed(field: string) {
  return contractViolation(`Approval request is malformed: ${field}`, { field });
}

function grantsOf(grants: Map<string, Set<string>>, sessionId: string): Set<string> {
  const known = grants.get(sessionId) ?? new Set<string>();
  grants.set(sessionId, known);
  return known;
}

/** A yes holds for calls of the same weight: the same tool, recursive and forced, is another question. */
function grantKey({ tool, profile }: CallView): string {
  return JSON.stringify([tool, profile.kind, profile.side_effect_level, profile.effect, profile.risk]);
}

async function recordQuestion(request: ApprovalRequest, options: ApprovalBrokerOptions): Promise<void> {
  try {
    await options.journalAppend([approvalRecord(request, options, { phase: 'dispatched' })]);
  } catch (cause) {
    const message = `Approval request could not be recorded: ${request.call.tool}`;
    throw failure('journal_failure', 'repair_needed', message, { details: { gate: 'approval' }, cause });
  }
}

async function recordAnswer(
  request: ApprovalRequest,
  decision: ApprovalDecision,
  options: ApprovalBrokerOptions,
): Promise<void> {
  const answer: ApprovalAnswer = decision.approved ? decision.answer : 'denied';
  const words = [decision.approved ? undefined : decision.code, decision.reason].filter((part) => part !== undefined);
  try {
    await options.journalAppend([
      approvalRecord(request, options, {
        phase: 'answered',
        answer,
        ...(decision.by === undefined ? {} : { answered_by: decision.by }),
        ...(words.length === 0 ? {} : { reason: words.join(': ') }),
        ...(answer === 'approved_for_session' && request.scope !== undefined ? { scope: request.scope } : {}),
      }),
    ]);
  } catch (cause) {
    await markForRecovery(request, options);
    const message = `Approval answer could not be recorded: ${request.call.tool}`;
    throw failure('recovery_repair_needed', 'repair_needed', message, { details: { gate: 'approval' }, cause });
  }
}

function approvalRecord(
  { call, approvalId }: ApprovalRequest,
  { clock }: ApprovalBrokerOptions,
  rest: Pick<ApprovalRecord, 'phase' | 'answer' | 'answered_by' | 'reason' | 'scope'>,
): ApprovalRecord {
  const ids = { call_id: call.callId, session_id: call.sessionId, approval_id: approvalId };
  return { kind: 'approval', ...ids, at_ms: clock.now(), ...rest };
}

async function markForRecovery({ call }: ApprovalRequest, options: ApprovalBrokerOptions): Promise<void> {
  try {
    await options.journalAppend([
      {
        kind: 'recovery',
        at_ms: options.clock.now(),
        call_id: call.callId,
        session_id: call.sessionId,
        reason: 'approval_answer_append_failed',
        classification: 'reconcile',
      },
    ]);
  } catch {
    // The journal is already failing and the error thrown next says so.
  }
}
