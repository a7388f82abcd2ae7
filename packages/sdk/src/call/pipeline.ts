/**
 * The conductor: the one path every call takes.
 *
 *   begin → resolve → normalise → hooks → gates → approval → budget → key → locks → rehearsal → INTENT
 *         → commit gate → tool → AST sync → "after" rules → RESULT → hooks and policy after → events → response
 *
 * Everything before the intent may refuse and changes nothing. Nothing runs unrecorded; no answer leaves before its
 * record, and a refusal is recorded too. Stages throw; `settle` is the only catch.
 */
import type { JsonValue, ToolResponse } from '@tool-runtime/protocol';
import { acquireLocks } from './acquire-locks.ts';
import { askApproval } from './ask-approval.ts';
import { beginCall } from './begin-call.ts';
import { buildResponse } from './build-response.ts';
import { announcePhase, PHASES } from './call-events.ts';
import type {
  AdmittedCall,
  CallRequest,
  Execution,
  GatedCall,
  JudgedCall,
  OpenCall,
  Outcome,
  ReadyCall,
  RecordedCall,
} from './call-types.ts';
import { checkCommitGate, dropCandidate } from './check-commit-gate.ts';
import { checkGates } from './check-gates.ts';
import { checkReplay } from './check-replay.ts';
import { emitOutcome } from './emit-outcome.ts';
import { executeTool, notExecuted } from './execute-tool.ts';
import { finishCall } from './finish-call.ts';
import { normalizeArgs } from './normalize-args.ts';
import { outcomeOf } from './outcome-of.ts';
import { recordIntent } from './record-intent.ts';
import { recordRefusal } from './record-refusal.ts';
import { recordReplay } from './record-replay.ts';
import { recordResult } from './record-result.ts';
import { rehearseCall } from './rehearse-call.ts';
import { reserveBudget } from './reserve-budget.ts';
import { resolveRoute } from './resolve-route.ts';
import { runBeforeHooks } from './run-before-hooks.ts';
import type { CompiledTool, SessionParts } from './session-parts.ts';
import { type Settled, settle } from './settle.ts';
import { syncAst } from './sync-ast.ts';
import { tooManyEdits } from './too-many-edits.ts';
import { validateChange } from './validate-change.ts';

const MAX_EDITS = 3;

/** `onOpen` is handed the way to cancel the call before anything else happens. */
export async function runCall(
  request: CallRequest,
  parts: SessionParts,
  onOpen?: (abort: OpenCall['abort']) => void,
): Promise<ToolResponse> {
  const open = beginCall(request, parts);
  onOpen?.(open.abort);
  announcePhase(open, PHASES.preCheck, parts);
  const admission = await settle(() => admitCall(open, parts));
  const outcome = admission.ok
    ? await followAdmission(admission.value, parts)
    : await recordRefusal(open, admission.error, parts);
  emitOutcome(open, outcome, parts);
  return buildResponse(open, outcome);
}

type Admission = { readonly call: AdmittedCall } | { readonly replay: JudgedCall; readonly answer: JsonValue };

/** Everything that may still say no. Nothing has happened yet. */
async function admitCall(open: OpenCall, parts: SessionParts): Promise<Admission> {
  const compiled = resolveRoute(open, parts);
  const judged = await judgeUntilSettled(open, compiled, parts);
  await reserveBudget(judged, parts);
  const { claim, recorded } = await checkReplay(judged, parts);
  if (recorded !== undefined) return { replay: judged, answer: recorded.answer };
  open.span?.stage('locks');
  const releaseLocks = await acquireLocks(judged, parts);
  const noted = claim === undefined ? undefined : await rehearseCall(judged, claim, parts);
  return { call: { ...judged, claim: noted, releaseLocks } };
}

/** An approver may edit the arguments; edited arguments start over, a bounded number of times. */
async function judgeUntilSettled(open: OpenCall, compiled: CompiledTool, parts: SessionParts): Promise<JudgedCall> {
  let judged = await judgeArgs(open, compiled, open.request.args, parts);
  for (let edits = 0; judged.verdict === 'ask'; edits++) {
    open.span?.stage('approval');
    const edited = await askApproval(judged, edits, parts);
    const approved: JudgedCall = {
      ...judged,
      verdict: 'allow',
      decision: { outcome: 'allow', gate: 'approval', code: 'approval.approved' },
    };
    if (edited === undefined) return approved;
    if (edits === MAX_EDITS) throw tooManyEdits(compiled.tool.name);
    judged = await judgeArgs(open, compiled, edited, parts);
  }
  return judged;
}

async function judgeArgs(
  open: OpenCall,
  compiled: CompiledTool,
  args: unknown,
  parts: SessionParts,
): Promise<JudgedCall> {
  const normalized = (given: unknown) => normalizeArgs(open, compiled, given, parts);
  const ready = normalized(args);
  const proposed = await runBeforeHooks(ready, parts, (changed) => normalized(changed).view);
  return checkGates(proposed === undefined ? ready : normalized(proposed), parts);
}

/** What the gates say to a call that nobody makes yet. `ready` is missing when its arguments were not understood. */
export interface JudgedProposal {
  readonly open: OpenCall;
  readonly ready: ReadyCall | undefined;
  readonly judged: Settled<JudgedCall>;
}

/**
 * The same route, arguments and gates as a call, and nothing else: no record, event, span, lock or budget. Hooks are left
 * out, because they may have effects, and the coordinator too, which is asked about a plan as a whole.
 */
export async function judgeProposal(request: CallRequest, session: SessionParts): Promise<JudgedProposal> {
  const parts: SessionParts = { ...session, coordinator: undefined, telemetry: undefined };
  const open = beginCall(request, parts);
  open.progress.ended = true;
  const ready = await settle(() => normalizeArgs(open, resolveRoute(open, parts), request.args, parts));
  if (!ready.ok) return { open, ready: undefined, judged: ready };
  return { open, ready: ready.value, judged: await settle(() => checkGates(ready.value, parts)) };
}

async function followAdmission(admission: Admission, parts: SessionParts): Promise<Outcome> {
  if ('replay' in admission) return followReplay(admission.replay, admission.answer, parts);
  const { call } = admission;
  let lingering: Promise<unknown> | undefined;
  try {
    call.open.span?.stage('intent');
    const intent = await settle(() => recordIntent(call, parts));
    if (!intent.ok) return await recordRefusal(call.open, intent.error, parts);
    const execution = await performCall(intent.value, parts);
    lingering = execution.lingering;
    return await concludeCall(intent.value, execution, parts);
  } finally {
    if (lingering === undefined) call.releaseLocks();
    else void lingering.then(call.releaseLocks);
  }
}

async function followReplay(call: JudgedCall, answer: JsonValue, parts: SessionParts): Promise<Outcome> {
  const replayed = await settle(() => recordReplay(call, answer, parts));
  return replayed.ok ? replayed.value : recordRefusal(call.open, replayed.error, parts);
}

/** The deed, between its two records. */
async function performCall(call: RecordedCall, parts: SessionParts): Promise<Execution> {
  announcePhase(call.open, PHASES.execute, parts);
  const gate = await settle(() => checkCommitGate(call, parts));
  if (!gate.ok) return notExecuted(gate.error, parts);
  const execution = await executeGated({ ...call, candidate: gate.value }, parts);
  if (execution.error !== undefined) return execution;
  announcePhase(call.open, PHASES.sync, parts);
  const synced = await settle(() => syncAst(call, execution.changes, parts));
  if (!synced.ok) return { ...execution, error: synced.error };
  announcePhase(call.open, PHASES.validate, parts);
  const valid = await settle(() => validateChange(call, execution.changes, parts));
  return valid.ok ? execution : { ...execution, data: null, error: valid.error };
}

async function executeGated(call: GatedCall, parts: SessionParts): Promise<Execution> {
  const { candidate } = call;
  try {
    return await executeTool(call, parts);
  } finally {
    if (candidate !== undefined) await settle(() => dropCandidate(candidate, parts));
  }
}

/** On record first, then what hooks and policy still have to say. */
async function concludeCall(call: RecordedCall, execution: Execution, parts: SessionParts): Promise<Outcome> {
  call.open.span?.stage('result');
  const recorded = await recordResult(call, execution, outcomeOf(call, execution, parts), parts);
  announcePhase(call.open, PHASES.emit, parts);
  return finishCall(call, recorded, parts);
}
