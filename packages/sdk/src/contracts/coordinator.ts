/**
 * The coordinator port: a program that sees more than this runtime and may refuse before anything happens.
 *
 * Every method is optional; what is missing is not asked. Questions carry hashes, redacted summaries and paths, and raw
 * arguments only where the registry says `coordinator.share_args`. A throw, a late or a malformed answer is no verdict: the
 * registry (`coordinator.required`) says whether a call may go on without one.
 */
import type { CoordinatorBudget, CoordinatorVerdict, JsonObject } from '@tool-runtime/protocol';
import type { MutationClass } from './annotations.ts';
import type { TerminalStatus } from './classes.ts';
import type { CallProfile } from './tool.ts';
import type { MaybePromise } from './workspace.ts';

export const COORDINATOR_QUESTIONS = ['plan', 'budget', 'policy'] as const;
export type CoordinatorQuestion = (typeof COORDINATOR_QUESTIONS)[number];

export interface CallIdentity {
  readonly callId: string;
  readonly sessionId: string;
  readonly tool: string;
  readonly actor: string;
  readonly client: string;
}

/** A call on its final arguments. */
export interface CoordinatorCall extends CallIdentity {
  readonly requestId: string;
  readonly argsHash: string;
  readonly argsSummary: string;
  readonly profile: CallProfile;
  readonly mutationClass: MutationClass;
  readonly paths: readonly string[];
  /** A copy; only with `share_args`. */
  readonly args?: JsonObject;
}

export interface CoordinatorStep {
  readonly tool: string;
  /** What the gates of this runtime said. */
  readonly verdict: CoordinatorVerdict['verdict'];
  readonly argsHash: string;
  readonly argsSummary: string;
  readonly paths: readonly string[];
  /** Undefined for a step that was not understood. */
  readonly profile?: CallProfile;
  readonly args?: JsonObject;
}

export interface CoordinatorPlan {
  readonly planId: string;
  readonly sessionId: string;
  readonly actor: string;
  readonly client: string;
  readonly note?: string;
  readonly steps: readonly CoordinatorStep[];
}

export interface SpentAmount {
  readonly bytes: number;
  readonly durationMs: number;
  readonly status: TerminalStatus;
}

export interface Coordinator {
  /** A plan as a whole, with what the gates said to each step. Only `allow` accepts it; no later call is bound by it. */
  proposePlan?(plan: CoordinatorPlan, signal: AbortSignal): MaybePromise<CoordinatorVerdict>;
  /** Asked before a call may run. The same call is reported to `spend` once it is over, unless the answer was `deny`. */
  reserve?(call: CoordinatorCall, signal: AbortSignal): MaybePromise<CoordinatorBudget>;
  /** Must not block; what it throws is reported to the embedding program and changes nothing. */
  spend?(call: CallIdentity, used: SpentAmount): void;
  /** Asked after the policy port has allowed or asked. `ask` goes to the approval broker. */
  evaluate?(call: CoordinatorCall, signal: AbortSignal): MaybePromise<CoordinatorVerdict>;
}

export interface CoordinatorSettings {
  /** Questions without whose answer nothing goes on. */
  readonly required: readonly CoordinatorQuestion[];
  readonly timeout_ms: number;
  readonly share_args: boolean;
}
