/**
 * A coordinator behind HTTP callbacks. Its address is the operator's word: no registry can name one.
 *
 * Answers are read strictly; whatever is wrong with one is thrown, and the runtime decides what that means. A question
 * too large to be asked is answered here with a no: otherwise size would be a way past a coordinator that is not required.
 */
import {
  type CoordinatorBudget,
  type CoordinatorCallBody,
  type CoordinatorPlanBody,
  coordinatorBudgetSchema,
  coordinatorVerdictSchema,
} from '@tool-runtime/protocol';
import type { Coordinator, CoordinatorCall, CoordinatorPlan } from '@tool-runtime/sdk';
import { type CoordinatorLineOptions, openCoordinatorLine } from './coordinator-line.ts';
import { createSpendQueue } from './spend-queue.ts';

const MAX_QUESTION_BYTES = 1024 * 1024;

const TOO_LARGE = {
  verdict: 'deny',
  reason: 'question_too_large',
  message: `The coordinator cannot be asked: the question has more than ${MAX_QUESTION_BYTES} bytes`,
} as const satisfies CoordinatorBudget;

export type HttpCoordinatorOptions = CoordinatorLineOptions;

export interface HttpCoordinator extends Required<Coordinator> {
  /** Sends the reports that still wait, once. */
  close(): Promise<void>;
}

/** Throws TypeError for an address that cannot be used. */
export function httpCoordinator(options: HttpCoordinatorOptions): HttpCoordinator {
  const line = openCoordinatorLine(options);
  const reports = createSpendQueue(async (body) => {
    await line.post('spend', JSON.stringify(body));
  });
  return {
    async proposePlan(plan, signal) {
      const text = fittingText(planBody(plan), withoutStepArgs);
      return text === undefined ? TOO_LARGE : coordinatorVerdictSchema.parse(await line.post('plan', text, signal));
    },
    async reserve(call, signal) {
      const text = fittingText(callBody(call), withoutArgs);
      return text === undefined ? TOO_LARGE : coordinatorBudgetSchema.parse(await line.post('budget', text, signal));
    },
    async evaluate(call, signal) {
      const text = fittingText(callBody(call), withoutArgs);
      return text === undefined ? TOO_LARGE : coordinatorVerdictSchema.parse(await line.post('policy', text, signal));
    },
    spend({ callId, sessionId, tool, actor, client }, { status, bytes, durationMs }) {
      const identity = { call_id: callId, session_id: sessionId, tool, actor, client };
      reports.add({ ...identity, status, bytes, duration_ms: durationMs });
    },
    close: () => reports.close(),
  };
}

/** Shared arguments are the first to go. */
function fittingText<Body>(body: Body, lighten: (body: Body) => Body): string | undefined {
  const text = JSON.stringify(body);
  if (fits(text)) return text;
  const lighter = JSON.stringify(lighten(body));
  return fits(lighter) ? lighter : undefined;
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_QUESTION_BYTES;
}

function callBody(call: CoordinatorCall): CoordinatorCallBody {
  return {
    call_id: call.callId,
    session_id: call.sessionId,
    request_id: call.requestId,
    tool: call.tool,
    actor: call.actor,
    client: call.client,
    args_hash: call.argsHash,
    args_summary: call.argsSummary,
    profile: call.profile,
    mutation_class: call.mutationClass,
    paths: call.paths,
    ...(call.args === undefined ? {} : { args: call.args }),
  };
}

function withoutArgs({ args, ...rest }: CoordinatorCallBody): CoordinatorCallBody {
  return args === undefined ? rest : { ...rest, args_omitted: true };
}

function planBody(plan: CoordinatorPlan): CoordinatorPlanBody {
  return {
    plan_id: plan.planId,
    session_id: plan.sessionId,
    actor: plan.actor,
    client: plan.client,
    ...(plan.note === undefined ? {} : { note: plan.note }),
    steps: plan.steps.map(({ argsHash, argsSummary, tool, verdict, paths, profile, args }) => ({
      tool,
      verdict,
      args_hash: argsHash,
      args_summary: argsSummary,
      paths,
      ...(profile === undefined ? {} : { profile }),
      ...(args === undefined ? {} : { args }),
    })),
  };
}

function withoutStepArgs({ steps, ...plan }: CoordinatorPlanBody): CoordinatorPlanBody {
  return { ...plan, args_omitted: true, steps: steps.map(({ args: _, ...step }) => step) };
}
