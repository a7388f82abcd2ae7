/** Decisions of the policy port and of hooks, and how approvals are asked and answered. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { MutationClass } from './annotations.ts';
import type { PolicyStage, PrivacyClass, RetentionClass } from './classes.ts';
import type { DestinationRef, PolicyRef, SourceRef } from './refs.ts';
import type { CallProfile } from './tool.ts';
import type { MaybePromise } from './workspace.ts';

export interface DecisionReason {
  readonly code: string;
  readonly redacted_summary?: string;
  readonly policy_refs?: readonly PolicyRef[];
}

export type PolicyDecision =
  | { readonly type: 'allow'; readonly reason: DecisionReason }
  | { readonly type: 'deny'; readonly reason: DecisionReason }
  | { readonly type: 'ask'; readonly reason: DecisionReason }
  | { readonly type: 'modify'; readonly reason: DecisionReason; readonly args: JsonObject }
  | { readonly type: 'defer'; readonly reason: DecisionReason }
  | { readonly type: 'interrupt'; readonly reason: DecisionReason };

export interface PolicyOutcome {
  readonly stage: PolicyStage;
  readonly decision: PolicyDecision;
  readonly source?: SourceRef;
  readonly destination?: DestinationRef;
  readonly policy_refs: readonly PolicyRef[];
  readonly privacy: PrivacyClass;
  readonly retention: RetentionClass;
}

/** The call as policies, hooks and approvers see it. */
export interface CallView {
  readonly callId: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly argsSummary: string;
  readonly profile: CallProfile;
  readonly mutationClass: MutationClass;
  readonly paths: readonly string[];
  readonly actor: string;
  readonly policyRefs: readonly PolicyRef[];
  readonly source: SourceRef;
  readonly destination: DestinationRef;
}

/** A throwing policy is a denial; so is any decision but `allow`, save `ask`, which goes to the approval broker. */
export interface ToolPolicy {
  evaluatePreTool(call: CallView): MaybePromise<PolicyOutcome>;
  evaluatePostTool(call: CallView, output: JsonValue): MaybePromise<PolicyOutcome>;
}

export type BeforeHookAnswer =
  | { readonly type: 'allow' }
  | { readonly type: 'deny'; readonly reason: string }
  | { readonly type: 'modify'; readonly args: JsonObject };

export type AfterHookAnswer = { readonly type: 'pass' } | { readonly type: 'modify'; readonly data: JsonValue };

export interface Hook {
  readonly id: string;
  /** Tool name or glob. */
  readonly tools: string;
  before?(call: CallView): MaybePromise<BeforeHookAnswer>;
  after?(call: CallView, data: JsonValue): MaybePromise<AfterHookAnswer>;
}

export const APPROVAL_ANSWERS = ['approved', 'approved_for_session', 'denied'] as const;
export type ApprovalAnswer = (typeof APPROVAL_ANSWERS)[number];

/** What a call is about to do, as text for the person who is asked. Known secrets are masked; long ones are cut. */
export interface ApprovalEffect {
  /**
   * `diff` of files it writes, `command` with its arguments and folder, or address of a `request`. `effects`: a command that ran
   * on an overlay, with what it printed and what it would change.
   */
  readonly kind: 'diff' | 'command' | 'request' | 'effects';
  readonly text: string;
  /** With `effects` only: the same for programs, cut less. */
  readonly ran?: RanEffect;
}

export interface RanEffect {
  /** Null when a signal ended it. */
  readonly exit_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Changed files, links and folders. */
  readonly total: number;
  /** Unified diff; says so when it is cut. */
  readonly diff: string;
  /** What it made that is never applied. */
  readonly left_out: readonly { readonly path: string; readonly reason: string }[];
}

export interface ApprovalRequest {
  readonly approvalId: string;
  readonly call: CallView;
  /** Left out where the arguments say it all. */
  readonly effect?: ApprovalEffect;
  /** Which other calls `approved_for_session` covers. */
  readonly scope?: string;
  /** Why the call needs a yes: gate, rule or policy, and the registry line where there is one. */
  readonly reason: string;
  readonly allowedAnswers: readonly ApprovalAnswer[];
  readonly timeoutMs: number;
}

export interface ApprovalReply {
  readonly answer: ApprovalAnswer;
  /** Who answered; an extension cannot answer its own request. */
  readonly by: string;
  readonly reason?: string;
  /** Edited arguments are judged again from the start. */
  readonly args?: JsonObject;
}

export interface ApprovalDispatcher {
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalReply>;
}

export interface BudgetRequest {
  readonly sessionId: string;
  readonly callId: string;
  readonly tool: string;
}

/** The coordinator's say. Refusing throws ToolError E_POLICY; `spend` reports what a finished call used. */
export interface BudgetPort {
  reserve(request: BudgetRequest): MaybePromise<void>;
  spend(request: BudgetRequest, used: { readonly bytes: number; readonly durationMs: number }): void;
}
