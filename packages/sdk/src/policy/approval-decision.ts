/** What comes of asking for approval: a yes with its author, or a no with a code that says which kind. */
import type { JsonObject } from '@tool-runtime/protocol';

export type ApprovalDenialCode =
  | 'missing.approval_dispatcher'
  | 'approval.timeout'
  | 'approval.cancelled'
  | 'approval.unavailable'
  | 'approval.disallowed_answer'
  | 'approval.self_answer'
  | 'approval.denied';

export interface ApprovalGiven {
  readonly approved: true;
  readonly answer: 'approved' | 'approved_for_session';
  readonly by: string;
  readonly reason?: string;
  /** Edited arguments: judge them from the start before anything runs. */
  readonly args?: JsonObject;
  /** An earlier yes for the session answered; the approver was not asked now. */
  readonly remembered: boolean;
}

export interface ApprovalRefused {
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
