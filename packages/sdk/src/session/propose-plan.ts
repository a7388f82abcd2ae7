/**
 * A plan: calls that are proposed, checked one by one by the gates and as a whole by the coordinator.
 *
 * Nothing runs, nothing is locked, no budget is taken; the verdict is on record before it is answered. It is not binding:
 * the gates check every call again when it is made.
 */
import {
  type CoordinatorVerdict,
  type ErrorEntry,
  isJsonObject,
  isToolError,
  MAX_PLAN_NOTE_LENGTH,
  MAX_PLAN_STEPS,
  type PlanStepVerdict,
  type PlanVerdict,
  type PolicyExplanation,
  ToolError,
} from '@tool-runtime/protocol';
import { judgeProposal } from '../call/pipeline.ts';
import { explainRefusal, rawArgs } from '../call/record-refusal.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import { settle } from '../call/state/settle.ts';
import type { CoordinatorStep } from '../contracts/coordinator.ts';
import { cancellation, completeRefusal, failure } from '../contracts/failures.ts';
import { checkToolName } from '../contracts/identifiers.ts';
import type { PlanRecord } from '../contracts/journal.ts';
import { coordinatorDenial } from '../coordinator/coordinator-refusal.ts';
import type { ProposedCall } from './compile-session.ts';
import { inTurn, type RunningWork } from './requests.ts';
import type { Session } from './session.ts';

export interface PlanSteps {
  readonly steps: readonly { readonly tool: string; readonly args: unknown }[];
  /** What the plan is for; recorded, redacted. */
  readonly note?: string;
}

interface Proposing {
  readonly running: RunningWork;
  explain(call: ProposedCall): Promise<PolicyExplanation>;
  refuseWhenEnded(): void;
}

/** What a session says about calls that are not made. */
export function proposals(
  parts: SessionParts,
  { running, explain, refuseWhenEnded }: Proposing,
): Pick<Session, 'propose' | 'explain'> {
  return {
    async propose(plan, options = {}) {
      refuseWhenEnded();
      const stop = new AbortController();
      const signal = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
      return running.run((onOpen, turn) => {
        onOpen((reason) => stop.abort(reason));
        return inTurn(() => proposePlan(plan, parts, signal), signal)(onOpen, turn);
      });
    },
    async explain(tool, args) {
      refuseWhenEnded();
      checkToolName(tool, 'tool');
      return explain({ tool, args });
    },
  };
}

/** Throws E_VALIDATION_FAIL for what is no plan, E_INTERNAL when it cannot be recorded, and a cancellation. */
async function proposePlan(plan: PlanSteps, parts: SessionParts, signal: AbortSignal): Promise<PlanVerdict> {
  checkPlan(plan);
  const planId = `plan.${parts.newId()}`;
  const judged: JudgedStep[] = [];
  for (const [index, step] of plan.steps.entries()) {
    refuseWhenCancelled(signal);
    judged.push(await judgeStep({ ...step, requestId: `${planId}.${index}`, signal }, parts));
  }
  const note = plan.note === undefined ? {} : { note: parts.redact(plan.note).toWellFormed() };
  const ruling = await askCoordinator({ planId, ...note, judged }, parts, signal);
  const isDenied = judged.some(({ shown }) => shown.verdict === 'deny');
  const verdict: PlanVerdict = {
    plan_id: planId,
    accepted: !isDenied && (ruling.coordinator?.verdict ?? 'allow') === 'allow',
    steps: judged.map(({ shown }) => shown),
    ...ruling,
  };
  await recordPlan(planRecord(verdict, { ...note, judged }, parts), parts);
  return verdict;
}

function checkPlan({ steps, note }: PlanSteps): void {
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > MAX_PLAN_STEPS) {
    throw badPlan('steps', `Plan must have 1 to ${MAX_PLAN_STEPS} steps`);
  }
  for (const [index, step] of steps.entries()) {
    const path = `steps.${index}`;
    if (typeof step !== 'object' || step === null)
      throw badPlan(path, `Step must name a tool and its arguments: ${path}`);
    checkToolName(step.tool, `${path}.tool`);
  }
  if (note !== undefined && (typeof note !== 'string' || note.length > MAX_PLAN_NOTE_LENGTH)) {
    throw badPlan('note', `Note must be text of at most ${MAX_PLAN_NOTE_LENGTH} characters`);
  }
}

function badPlan(path: string, message: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, {
    path,
    details: { gate: 'plan', next: 'propose a smaller plan' },
  });
}

function refuseWhenCancelled(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const { reason } = signal;
  throw isToolError(reason) ? reason : cancellation('Plan was cancelled');
}

interface JudgedStep {
  /** As the caller sees it. */
  readonly shown: PlanStepVerdict;
  /** As the coordinator sees it, if it may see the arguments. */
  readonly asked: CoordinatorStep;
}

async function judgeStep(request: Parameters<typeof judgeProposal>[0], parts: SessionParts): Promise<JudgedStep> {
  const { open, ready, judged } = await judgeProposal(request, parts);
  const { tool } = request;
  const refusal = judged.ok ? undefined : explainRefusal(judged.error, parts);
  const verdict = judged.ok ? judged.value.verdict : 'deny';
  const reason = judged.ok ? judged.value.decision.code : reasonOf(refusal);
  const staticLevel = parts.tools.get(tool)?.staticProfile.side_effect_level ?? null;
  const paths = ready?.subject.paths.map((path) => path.value) ?? [];
  const { argsHash, argsSummary } = ready === undefined ? rawArgs(request, parts) : ready;
  const args = ready?.subject.args ?? request.args;
  return {
    shown: {
      tool,
      verdict,
      ...(verdict === 'allow' ? {} : { reason }),
      errors: refusal === undefined ? [] : [completeRefusal(refusal).toEntry()],
      warnings: [...open.warnings],
      paths,
      side_effect_level: ready?.subject.profile.side_effect_level ?? staticLevel,
    },
    asked: {
      tool,
      verdict,
      argsHash,
      argsSummary,
      paths: [...paths],
      ...(ready === undefined ? {} : { profile: ready.subject.profile }),
      ...(isJsonObject(args) ? { args } : {}),
    },
  };
}

function reasonOf(error: ToolError | undefined): string {
  const reason = error?.details['reason'] ?? error?.details['rule'];
  return typeof reason === 'string' ? reason : (error?.code ?? 'E_INTERNAL');
}

interface PlanRuling {
  readonly coordinator?: CoordinatorVerdict;
  readonly errors: readonly ErrorEntry[];
  readonly warnings: readonly ErrorEntry[];
}

interface AskedPlan {
  readonly planId: string;
  readonly note?: string;
  readonly judged: readonly JudgedStep[];
}

async function askCoordinator(
  { planId, note, judged }: AskedPlan,
  parts: SessionParts,
  signal: AbortSignal,
): Promise<PlanRuling> {
  const { coordinator, sessionId, actor, client } = parts;
  if (coordinator === undefined) return { errors: [], warnings: [] };
  const steps = judged.map(({ asked }) => asked);
  const plan = { planId, sessionId, actor, client, ...(note === undefined ? {} : { note }), steps };
  const asked = await settle(() => coordinator.judgePlan(plan, signal));
  refuseWhenCancelled(signal);
  if (!asked.ok) {
    const error = explainRefusal(asked.error, parts);
    return {
      coordinator: { verdict: 'deny', reason: reasonOf(error) },
      errors: [completeRefusal(error).toEntry()],
      warnings: [],
    };
  }
  const { verdict, warning } = asked.value;
  return {
    ...(verdict === undefined ? {} : { coordinator: verdict }),
    errors: verdict?.verdict === 'deny' ? [coordinatorDenial('plan', verdict).toEntry()] : [],
    warnings: warning === undefined ? [] : [warning],
  };
}

function planRecord(
  { plan_id, accepted, steps, coordinator }: PlanVerdict,
  { note, judged }: Pick<AskedPlan, 'note' | 'judged'>,
  { clock, sessionId, actor, client }: SessionParts,
): PlanRecord {
  return {
    kind: 'plan',
    at_ms: clock.now(),
    session_id: sessionId,
    plan_id,
    actor,
    client,
    ...(note === undefined ? {} : { note }),
    accepted,
    steps: judged.map(({ asked }, index) => {
      const code = steps[index]?.reason;
      return {
        tool: asked.tool,
        args_hash: asked.argsHash,
        args_summary: asked.argsSummary,
        verdict: asked.verdict,
        ...(code === undefined ? {} : { code }),
      };
    }),
    ...(coordinator === undefined ? {} : { coordinator }),
  };
}

async function recordPlan(record: PlanRecord, { journal, recovery }: SessionParts): Promise<void> {
  const written = await settle(() => recovery.carry([record], (records) => journal.append(records)));
  if (written.ok) return;
  throw failure('journal_failure', 'repair_needed', 'The plan could not be recorded', {
    details: { gate: 'journal', reason: 'plan_unrecorded', next: 'check the state folder, then propose again' },
    cause: written.error,
  });
}
