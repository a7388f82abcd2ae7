/**
 * The coordinator as one session asks it: what its questions hold, and what follows from a no.
 *
 * Undefined where there is no coordinator and none is required, so that calls of such sessions cost nothing.
 */
import { type CoordinatorVerdict, type ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { z } from 'zod';
import type {
  CallIdentity,
  Coordinator,
  CoordinatorCall,
  CoordinatorPlan,
  CoordinatorQuestion,
  CoordinatorSettings,
  SpentAmount,
} from '../contracts/coordinator.ts';
import type { CallView } from '../contracts/policy.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { askInTime, type Heard } from './ask-in-time.ts';
import type { CircuitBreaker, CoordinatorBreakers } from './circuit-breaker.ts';
import {
  coordinatorDenial,
  coordinatorMissing,
  coordinatorSilent,
  coordinatorUnreachable,
} from './coordinator-refusal.ts';

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
      const verdict = await consultFor(call, {
        question: 'policy',
        ask,
        schema: (await schemas()).coordinatorVerdictSchema,
      });
      if (verdict?.verdict === 'deny') throw coordinatorDenial('policy', verdict);
      return verdict;
    },
    async reserve(call) {
      const { callId } = call.view;
      // Before the question: when its answer is lost, the coordinator may have reserved all the same.
      if (coordinator?.spend !== undefined) unspent.set(callId, identityOf(call, client));
      const ask = coordinator?.reserve && ((signal: AbortSignal) => coordinator.reserve?.(viewOf(call), signal));
      const verdict = await consultFor(call, {
        question: 'budget',
        ask,
        schema: (await schemas()).coordinatorBudgetSchema,
      });
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
        // The call is over: counting cannot change it any more.
        options.reportUnexpected(new ToolError('E_INTERNAL', 'Coordinator failed to take a report', { cause }));
      }
    },
    async judgePlan(plan, signal) {
      const shown = settings.share_args ? structuredClone(plan) : withoutArgs(plan);
      const ask = coordinator?.proposePlan && ((stop: AbortSignal) => coordinator.proposePlan?.(shown, stop));
      const { coordinatorVerdictSchema: schema } = await schemas();
      return consult({ question: 'plan', ask, schema, signal: () => signal }, options);
    },
  };
}

/** Loaded with the first question: most sessions have no coordinator. */
function schemas() {
  return import('@tool-runtime/protocol');
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

const MAX_MESSAGE_LENGTH = 500;

interface ConsultOptions {
  readonly settings: CoordinatorSettings;
  readonly breakers: CoordinatorBreakers;
  redact(text: string): string;
  reportUnexpected(error: ToolError): void;
}

interface Inquiry<Verdict> {
  readonly question: CoordinatorQuestion;
  /** Undefined: the coordinator does not answer such questions. */
  readonly ask: ((signal: AbortSignal) => MaybePromise<unknown>) | undefined;
  readonly schema: z.ZodType<Verdict>;
  /** Made on first use: nothing is asked while the coordinator is paused. */
  signal(): AbortSignal;
}

interface Ruling {
  /** Undefined when there was no answer and none was required. */
  readonly verdict: CoordinatorVerdict | undefined;
  readonly warning: ErrorEntry | undefined;
}

const NOT_ASKED: Ruling = { verdict: undefined, warning: undefined };

/**
 * One question with all that belongs to it: whether to ask at all, in what time, and what it means when no answer comes.
 *
 * A no is a verdict. Throws E_POLICY where the registry wants a word and none came, and the signal's reason.
 */
async function consult<Verdict extends CoordinatorVerdict>(
  { question, ask, schema, signal }: Inquiry<Verdict>,
  { settings, breakers, redact, reportUnexpected }: ConsultOptions,
): Promise<Ruling> {
  const isRequired = settings.required.includes(question);
  if (ask === undefined) {
    if (isRequired) throw coordinatorMissing(question);
    return NOT_ASKED;
  }
  const breaker = breakers[question];
  // A required word is asked for every time: a pause would refuse calls that the coordinator may allow by now.
  if (!breaker.mayTry() && !isRequired) return withoutWord(coordinatorSilent(question, 'paused'));
  const timeoutMs = settings.timeout_ms;
  const heard = await watched(breaker, () => askInTime({ ask, schema, timeoutMs, signal: signal() }));
  if (heard.type === 'verdict') return { verdict: shownVerdict(heard.verdict, redact), warning: undefined };
  const silent = coordinatorSilent(question, heard.type, heard.cause);
  reportUnexpected(silent);
  if (isRequired) throw coordinatorUnreachable(question, heard.type, heard.cause);
  return withoutWord(silent);
}

function withoutWord(silent: ToolError): Ruling {
  return { verdict: undefined, warning: silent.toEntry() };
}

async function watched<Verdict>(
  breaker: CircuitBreaker,
  attempt: () => Promise<Heard<Verdict>>,
): Promise<Heard<Verdict>> {
  let heard: Heard<Verdict> | undefined;
  try {
    heard = await attempt();
    return heard;
  } finally {
    if (heard === undefined) breaker.abandoned();
    else if (heard.type === 'verdict') breaker.succeeded();
    else breaker.failed();
  }
}

/** Its words go into answers and records, so they are treated like any text from outside. */
function shownVerdict({ verdict, reason, message }: CoordinatorVerdict, redact: ConsultOptions['redact']) {
  if (message === undefined) return { verdict, reason };
  return { verdict, reason, message: redact(message).slice(0, MAX_MESSAGE_LENGTH).toWellFormed() };
}
