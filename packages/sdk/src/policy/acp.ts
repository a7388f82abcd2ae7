/**
 * How a call looks to an agent client protocol: four statuses, our kinds unchanged, and permissions.
 *
 * A client answers a permission request by selecting an option, and that option may well be a refusal: what counts is
 * the option's kind, never the fact that something was selected.
 */
import type { ToolKind } from '../contracts/annotations.ts';
import type { TerminalStatus } from '../contracts/classes.ts';
import type { ApprovalAnswer } from '../contracts/policy.ts';

export type AcpStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

/** Where a call stands: known, at work, or over one way or another. */
export type CallPhase = 'requested' | 'executing' | TerminalStatus;

export interface PermissionOption {
  readonly optionId: string;
  /** `allow_once`, `allow_always`, `reject_once`, `reject_always`; anything else grants nothing. */
  readonly kind: string;
}

export type PermissionOutcome =
  | { readonly outcome: 'selected'; readonly optionId: string }
  | { readonly outcome: 'cancelled' };

export function acpStatus(phase: CallPhase): AcpStatus {
  if (phase === 'requested') return 'pending';
  if (phase === 'executing') return 'in_progress';
  return phase === 'completed' ? 'completed' : 'failed';
}

export function acpToolCallUpdate(call: { readonly callId: string; readonly kind: ToolKind }, phase: CallPhase) {
  return { toolCallId: call.callId, kind: call.kind, status: acpStatus(phase) };
}

export function permissionGranted(options: readonly PermissionOption[], outcome: PermissionOutcome): boolean {
  return permissionAnswer(options, outcome) !== 'denied';
}

/** An option that is not offered, or offered under two kinds, is a denial. */
export function permissionAnswer(options: readonly PermissionOption[], outcome: PermissionOutcome): ApprovalAnswer {
  if (outcome.outcome !== 'selected') return 'denied';
  const kinds = new Set(options.filter((option) => option.optionId === outcome.optionId).map((option) => option.kind));
  if (kinds.size !== 1) return 'denied';
  if (kinds.has('allow_once')) return 'approved';
  return kinds.has('allow_always') ? 'approved_for_session' : 'denied';
}
