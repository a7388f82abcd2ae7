/**
 * The conductor: the one path every call takes.
 *
 *   begin → resolve → normalise → hooks → gates → approval → budget → key → locks → rehearsal → INTENT
 *         → commit gate → tool → AST sync → "after" rules → RESULT → hooks and policy after → events → response
 *
 * Everything before the intent may refuse and changes nothing. Nothing runs unrecorded; no answer leaves before its
 * record, and a refusal is recorded too. Stages throw; `settle` is the only catch. Whatever can take time is waited for
 * through `open.time`, so the call ends by its deadline whatever a stage does.
 */
import type { JsonObject, JsonValue, ToolError, ToolResponse } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import { askApproval } from './ask-approval.ts';
import { beginCall, loadTool } from './begin-call.ts';
import { checkCommitGate, dropCandidate, runHooksAfter } from './check-commit-gate.ts';
import { checkGates, reserveBudget, runBeforeHooks } from './check-gates.ts';
import { executeTool, notExecuted, outcomeOf } from './execute-tool.ts';
import { buildResponse, emitOutcome, finishCall } from './finish-call.ts';
import { acquireLocks, releaseLocks } from './hold-locks.ts';
import { checkReplay, recordReplay, rehearseCall } from './idempotency.ts';
import { isJudgedAfter, syncAst, takeBack, validateChange } from './judge-change.ts';
import { keepChangeSet } from './keep-change-set.ts';
import { normalizeArgs } from './normalize-args.ts';
import { recordIntent, recordResult } from './record-effect.ts';
import { recordRefusal } from './record-refusal.ts';
import type {
  AdmittedCall,
  Call,
  CallRequest,
  Execution,
  GatedCall,
  GateOutcome,
  JudgedCall,
  OpenCall,
  Outcome,
  RecordedCall,
} from './state/call-types.ts';
import { viewOf } from './state/call-view.ts';
import type { Grant } from './state/change-log.ts';
import type { CompiledTool, SessionParts } from './state/session-parts.ts';
import { type Settled, settle } from './state/settle.ts';
import { announcePhase, PHASES } from './state/trail.ts';

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
  open.time.end();
  emitOutcome(open, outcome, parts);
  return buildResponse(open, outcome, parts);
}

type Admission = { readonly call: AdmittedCall } | { readonly replay: JudgedCall; readonly answer: JsonValue };

/** Everything that may still say no. Nothing has happened yet. */
async function admitCall(open: OpenCall, parts: SessionParts): Promise<Admission> {
  const compiled = await loadTool(open, parts);
  const judged = await judgeUntilSettled(open, compiled, parts);
  await open.time.wait('budget', () => reserveBudget(judged, parts));
  const isKeyed = open.request.idempotencyKey !== undefined || open.request.dedupeKey !== undefined;
  const replay = isKeyed ? await open.time.wait('key', () => checkReplay(judged, parts)) : undefined;
  if (replay?.recorded !== undefined) return { replay: judged, answer: replay.recorded.answer };
  open.span?.stage('locks');
  const releaseLocks = await open.time.wait(
    'locks',
    () => acquireLocks(judged, parts),
    (release) => release(),
  );
  if (replay === undefined) return { call: { ...judged, claims: [], releaseLocks } };
  const noted = await settle(() => open.time.wait('rehearsal', () => rehearseCall(judged, replay.claims, parts)));
  if (noted.ok) return { call: { ...judged, claims: noted.value, releaseLocks } };
  releaseLocks();
  throw noted.error;
}

/** An approver may edit the arguments; edited arguments start over, a bounded number of times. */
async function judgeUntilSettled(open: OpenCall, compiled: CompiledTool, parts: SessionParts): Promise<JudgedCall> {
  const ready = normalizeArgs(open, compiled, open.request.args, parts);
  await open.time.wait('turn', () => open.request.turn?.take(open.signal));
  let judged = await judgeArgs(ready, parts);
  for (let edits = 0; judged.verdict === 'ask'; edits++) {
    open.span?.stage('approval');
    const edited = await askPerson(judged, edits, parts);
    const approved: JudgedCall = {
      ...judged,
      verdict: 'allow',
      decision: { outcome: 'allow', gate: 'approval', code: 'approval.approved' },
    };
    if (edited === undefined) return approved;
    if (edits === MAX_EDITS) throw tooManyEdits(compiled.tool.name);
    judged = await judgeArgs(normalizeArgs(open, compiled, edited, parts), parts);
  }
  return judged;
}

/** Others may run meanwhile: people are slow. */
async function askPerson(call: JudgedCall, edits: number, parts: SessionParts): Promise<JsonObject | undefined> {
  const { time, request } = call.open;
  const resume = request.turn?.lend();
  try {
    return await time.wait('approval', () => askApproval(call, edits, parts));
  } finally {
    resume?.();
  }
}

async function judgeArgs(call: Call, parts: SessionParts): Promise<JudgedCall> {
  const { open } = call;
  const ready = parts.hooks.isEmpty ? call : await askHooks(call, parts);
  return open.time.wait('gates', () => checkGates(ready, parts));
}

async function askHooks(call: Call, parts: SessionParts): Promise<Call> {
  const { open, compiled } = call;
  const normalized = (given: unknown) => normalizeArgs(open, compiled, given, parts);
  const proposed = await open.time.wait('hooks', () =>
    runBeforeHooks(call, parts, (changed) => viewOf(normalized(changed), parts)),
  );
  return proposed === undefined ? call : normalized(proposed);
}

function tooManyEdits(tool: string): ToolError {
  return policyDenial(`Arguments were edited too often without an approval: ${tool}`, {
    details: { gate: 'approval', reason: 'approval.too_many_edits', next: 'send the call again as it should run' },
  });
}

/** What the gates say about a call that is only proposed. `ready` is missing when its arguments were not understood. */
export interface JudgedProposal {
  readonly open: OpenCall;
  readonly ready: Call | undefined;
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
  const loaded = await settle(() => loadTool(open, parts));
  const ready = loaded.ok ? await settle(() => normalizeArgs(open, loaded.value, request.args, parts)) : loaded;
  if (!ready.ok) return { open, ready: undefined, judged: ready };
  const judged = await settle(() => open.time.wait('gates', () => checkGates(ready.value, parts)));
  open.time.end();
  return { open, ready: ready.value, judged };
}

async function followAdmission(admission: Admission, parts: SessionParts): Promise<Outcome> {
  if ('replay' in admission) return followReplay(admission.replay, admission.answer, parts);
  const { call } = admission;
  const { time, span } = call.open;
  let grant: Grant | undefined;
  try {
    span?.stage('intent');
    const intent = await settle(() =>
      time.wait(
        'intent',
        () => recordIntent(call, parts),
        (late, reason) => void closeUnused(late, reason, parts),
      ),
    );
    if (!intent.ok) return await recordRefusal(call.open, intent.error, parts);
    const execution = await performCall(intent.value, parts);
    grant = execution.grant;
    return await concludeCall(intent.value, execution, parts);
  } finally {
    releaseLocks(call, grant, parts);
  }
}

/** The intent came on record after the call had been answered: nothing ran, and the record says so. */
async function closeUnused(call: RecordedCall, reason: ToolError, parts: SessionParts): Promise<void> {
  const execution = notExecuted(reason);
  await recordResult(call, execution, outcomeOf(call, execution, parts), parts);
}

async function followReplay(call: JudgedCall, answer: JsonValue, parts: SessionParts): Promise<Outcome> {
  const replayed = await settle(() => recordReplay(call, answer, parts));
  return replayed.ok ? replayed.value : recordRefusal(call.open, replayed.error, parts);
}

/** The effect, between its two records. */
async function performCall(call: RecordedCall, parts: SessionParts): Promise<Execution> {
  announcePhase(call.open, PHASES.execute, parts);
  const gate = await settle(() => passCommitGate(call, parts));
  if (!gate.ok) return notExecuted(gate.error);
  const execution = await executeGated({ ...call, ...gate.value }, parts);
  if (execution.error !== undefined) return execution;
  announcePhase(call.open, PHASES.sync, parts);
  if (hasChangedNothing(call, execution)) {
    announcePhase(call.open, PHASES.validate, parts);
    return execution;
  }
  return judgeChange(call, execution, parts);
}

/** A process writes past the log, so what it did is never known to be nothing. */
function hasChangedNothing({ subject }: RecordedCall, { changes }: Execution): boolean {
  return changes.changes.length === 0 && subject.profile.effect !== 'process';
}

const NOTHING_GATED: GateOutcome = { candidate: undefined, publication: undefined };

/** Only calls that mean something to git have a last gate. */
async function passCommitGate(call: RecordedCall, parts: SessionParts): Promise<GateOutcome> {
  if (call.subject.git === undefined) return NOTHING_GATED;
  return call.open.time.wait(
    'commitGate',
    () => checkCommitGate(call, parts),
    ({ candidate }) => void settle(() => candidate && dropCandidate(candidate, parts)),
  );
}

/** What could not be indexed cannot be checked, and what cannot be checked does not pass. */
async function judgeChange(call: RecordedCall, execution: Execution, parts: SessionParts): Promise<Execution> {
  const { changes } = execution;
  const { time } = call.open;
  const synced = await settle(() => time.wait('index', () => syncAst(call, changes, parts)));
  announcePhase(call.open, PHASES.validate, parts);
  const valid = synced.ok
    ? await settle(() => time.wait('afterRules', () => validateChange(call, changes, parts)))
    : synced;
  if (valid.ok) return execution;
  if (!isJudgedAfter(call, changes, parts)) return { ...execution, error: valid.error };
  return { ...execution, data: null, error: await takeBack(valid.error, call, changes, parts) };
}

async function executeGated(call: GatedCall, parts: SessionParts): Promise<Execution> {
  const { candidate } = call;
  try {
    const execution = await executeTool(call, parts);
    if (execution.error === undefined && call.subject.git !== undefined) {
      await settle(() => call.open.time.wait('hooks', () => runHooksAfter(call, parts)));
    }
    return execution;
  } finally {
    if (candidate !== undefined) {
      await settle(() => call.open.time.wait('cleanUp', () => dropCandidate(candidate, parts)));
    }
  }
}

/** On record first, then what hooks and policy still have to say. */
async function concludeCall(call: RecordedCall, execution: Execution, parts: SessionParts): Promise<Outcome> {
  call.open.span?.stage('result');
  if (execution.changes.paths.length > 0) call.open.progress.changeId = keepChangeSet(call, execution, parts);
  const recorded = await settle(() => recordResult(call, execution, outcomeOf(call, execution, parts), parts));
  if (!recorded.ok) return recordRefusal(call.open, recorded.error, parts);
  announcePhase(call.open, PHASES.emit, parts);
  return finishCall(call, recorded.value, parts);
}
