/**
 * The coordinator as one session asks it: what its questions hold, and what follows from a no.
 *
 * Undefined where there is no coordinator and none is required, so that calls of such sessions cost nothing.
 */
import {
  type CoordinatorVerdict,
  coordinatorBudgetSchema,
  coordinatorVerdictSchema,
  type ErrorEntry,
  ToolError,
} from '@tool-runtime/protocol';
import type {
  CallIdentity,
  Coordinator,
  CoordinatorCall,
  CoordinatorPlan,
  SpentAmount,
} from '../contracts/coordinator.ts';
import type { CallView } from '../contracts/policy.ts';
import { type ConsultOptions, consult, type Inquiry, type Ruling } from './consult.ts';
import { coordinatorDenial } from './coordinator-refusal.ts';

/** What is needed of a call that is being judged. */
export interface AskingCall {
  readonly view: CallView;
  readonly argsHash: string;
  readonly open: {
    readonly request: { readonly requestId: string };
    readonly warnings: ErrorEntry[];
    signal(): AbortSignal;
  };
}

export interface SessionCoordinator {
  /** `allow` or `ask`; undefined when there was no answer and none was required. Throws E_POLICY for a no. */
  evaluate(call: AskingCall): Promise<CoordinatorVerdict | undefined>;
  /** Throws E_POLICY for a no. */
  reserve(call: AskingCall): Promise<void>;
  /** Reports a call that `reserve` was asked about and that was not denied there; passes over all others. */
  spend(callId: string, used: SpentAmount): void;
  /** A no is a verdict here. Throws E_POLICY only where the registry wants a word and none came. */
  judgePlan(plan: CoordinatorPlan, signal: AbortSignal): Promise<Ruling>;
}

export interface SessionCoordinatorOptions extends ConsultOptions {
  readonly coordinator: Coordinator | undefined;
  readonly client: string;
}

export function createSessionCoordinator(options: SessionCoordinatorOptions): SessionCoordinator | undefined {
  const { coordinator, settings, client } = options;
  if (coordinator === undefined && settings.required.length === 0) return undefined;
  const unspent = new Map<string, CallIdentity>();
  const viewOf = (call: AskingCall) => coordinatorCall(call, { client, shareArgs: settings.share_args });

  async function consultFor<Verdict extends CoordinatorVerdict>(
    call: AskingCall,
    inquiry: Omit<Inquiry<Verdict>, 'signal'>,
  ): Promise<CoordinatorVerdict | undefined> {
    const { verdict, warning } = await consult({ ...inquiry, signal: () => call.open.signal() }, options);
    if (warning !== undefined) call.open.warnings.push(warning);
    return verdict;
  }

  return {
    async evaluate(call) {
      const ask = coordinator?.evaluate && ((signal: AbortSignal) => coordinator.evaluate?.(viewOf(call), signal));
      const verdict = await consultFor(call, { question: 'policy', ask, schema: coordinatorVerdictSchema });
      if (verdict?.verdict === 'deny') throw coordinatorDenial('policy', verdict);
      return verdict;
    },
    async reserve(call) {
      const { callId } = call.view;
      // Before the question: when its answer is lost, the coordinator may have reserved all the same.
      if (coordinator?.spend !== undefined) unspent.set(callId, identityOf(call, client));
      const ask = coordinator?.reserve && ((signal: AbortSignal) => coordinator.reserve?.(viewOf(call), signal));
      const verdict = await consultFor(call, { question: 'budget', ask, schema: coordinatorBudgetSchema });
      if (verdict?.verdict !== 'deny') return;
      unspent.delete(callId);
      throw coordinatorDenial('budget', verdict);
    },
    spend(callId, used) {
      const identity = unspent.get(callId);
      if (identity === undefined) return;
      unspent.delete(callId);
      try {
        coordinator?.spend?.(identity, used);
      } catch (cause) {
        // The call is over: who counts it cannot change it any more.
        options.reportUnexpected(new ToolError('E_INTERNAL', 'Coordinator failed to take a report', { cause }));
      }
    },
    judgePlan(plan, signal) {
      const shown = settings.share_args ? structuredClone(plan) : withoutArgs(plan);
      const ask = coordinator?.proposePlan && ((stop: AbortSignal) => coordinator.proposePlan?.(shown, stop));
      return consult({ question: 'plan', ask, schema: coordinatorVerdictSchema, signal: () => signal }, options);
    },
  };
}

function identityOf({ view }: AskingCall, client: string): CallIdentity {
  const { callId, sessionId, tool, actor } = view;
  return { callId, sessionId, tool, actor, client };
}

function coordinatorCall(
  call: AskingCall,
  { client, shareArgs }: { readonly client: string; readonly shareArgs: boolean },
): CoordinatorCall {
  const { argsSummary, profile, mutationClass, paths, args } = call.view;
  return {
    ...identityOf(call, client),
    requestId: call.open.request.requestId,
    argsHash: call.argsHash,
    argsSummary,
    profile,
    mutationClass,
    // Copies: what a coordinator in this process does to them must not change what is judged and run.
    paths: [...paths],
    ...(shareArgs ? { args: structuredClone(args) } : {}),
  };
}

function withoutArgs(plan: CoordinatorPlan): CoordinatorPlan {
  return { ...plan, steps: plan.steps.map(({ args: _, ...step }) => step) };
}
