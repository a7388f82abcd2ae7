/** The Agent Client Protocol: calls, statuses, places, diffs and permissions both ways. No SDK is needed or loaded. */
import type { ApprovalAnswer, ApprovalDispatcher, ApprovalReply, ApprovalRequest } from '@tool-runtime/sdk';
import { permissionAnswer } from '@tool-runtime/sdk/parts';
import { type AcpOptions, toAcpToolCall } from './acp-call.ts';
import type { AcpOptionKind, AcpPermissionOption, AcpPermissionOutcome, AcpPermissionRequest } from './acp-types.ts';

export {
  type AcpCall,
  type AcpOptions,
  type AcpPhase,
  fromAcpKind,
  fromAcpLocations,
  fromAcpStatus,
  toAcpProgress,
  toAcpResult,
  toAcpStatus,
  toAcpToolCall,
  type WorkspacePlace,
} from './acp-call.ts';
export type { TextChange } from './acp-diffs.ts';
export {
  ACP_SWITCH_MODE,
  type AcpContent,
  type AcpDiff,
  type AcpLocation,
  type AcpOptionKind,
  type AcpPermissionOption,
  type AcpPermissionOutcome,
  type AcpPermissionRequest,
  type AcpStatus,
  type AcpText,
  type AcpToolCall,
  type AcpToolCallUpdate,
} from './acp-types.ts';

const OPTION_KINDS: Readonly<Record<ApprovalAnswer, { readonly kind: AcpOptionKind; readonly name: string }>> = {
  approved: { kind: 'allow_once', name: 'Allow once' },
  approved_for_session: { kind: 'allow_always', name: 'Allow for this session' },
  denied: { kind: 'reject_once', name: 'Reject' },
};

/**
 * Approvals as permission requests of the Agent Client Protocol. An answer counts by the kind of the selected option.
 *
 * One option for each answer the runtime accepts; the answer is its id.
 */
export function acpPermissionOptions(answers: readonly ApprovalAnswer[]): AcpPermissionOption[] {
  return answers.map((answer) => ({ optionId: answer, ...OPTION_KINDS[answer] }));
}

export interface AcpPermissionOptions extends AcpOptions {
  /** The protocol's session, not the runtime's. */
  readonly sessionId: string;
  /** The id under which the call was reported, where it is not the runtime's own. */
  readonly toolCallId?: string;
}

export function toAcpPermissionRequest(request: ApprovalRequest, options: AcpPermissionOptions): AcpPermissionRequest {
  const { callId, tool, args, paths, profile } = request.call;
  const call = {
    callId: options.toolCallId ?? callId,
    title: `${tool}: ${request.reason}`,
    kind: profile.kind,
    args,
    paths,
  };
  return {
    sessionId: options.sessionId,
    toolCall: toAcpToolCall(call, options),
    options: acpPermissionOptions(request.allowedAnswers),
  };
}

/** What a client's answer means. Cancelling is a no. */
export function fromAcpPermission(
  offered: readonly AcpPermissionOption[],
  outcome: AcpPermissionOutcome,
  by: string,
): ApprovalReply {
  const answer = permissionAnswer(offered, outcome);
  return { answer, by, ...(outcome.outcome === 'cancelled' ? { reason: 'cancelled' } : {}) };
}

export interface AcpApprovalsOptions extends AcpOptions {
  readonly sessionId: string;
  /** Sends `session/request_permission` to the client. */
  requestPermission(request: AcpPermissionRequest): Promise<{ readonly outcome: AcpPermissionOutcome }>;
  /** Who answers, as the journal names it; `acp` by default. */
  readonly by?: string;
}

/** The person at an editor as the runtime's approver. */
export function acpApprovals(options: AcpApprovalsOptions): ApprovalDispatcher {
  return {
    async ask(request) {
      const question = toAcpPermissionRequest(request, options);
      const { outcome } = await options.requestPermission(question);
      return fromAcpPermission(question.options, outcome, options.by ?? 'acp');
    },
  };
}
