/**
 * The conductor: the one path every call takes.
 *
 *   begin → resolve → normalise → hooks → gates → approval → budget → key → locks → rehearsal → INTENT
 *         → commit gate → tool → AST sync → "after" rules → RESULT → hooks and policy after → events → response
 *
 * Everything before the intent may refuse and changes nothing. Nothing runs unrecorded; no answer leaves before its
 * record, and a refusal is recorded too. Stages throw, and `settle` turns what they throw into an answer. Whatever can
 * take time is waited for through `open.time`, so the call ends by its deadline whatever a stage does.
 */
import { type JsonObject, type JsonValue, ToolError, type ToolResponse } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import type { KeyClaim } from '../contracts/journal.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { answerTaped, refuseTaped, type TapedAdmission } from './answer-taped.ts';
import { askApproval } from './ask-approval.ts';
import { beginCall, isKeyed, loadTool } from './begin-call.ts';
import { checkCommitGate, runHooksAfter } from './check-commit-gate.ts';
import { checkGates, GATES, type HeardGate, reserveBudget, runBeforeHooks, verdictOf } from './check-gates.ts';
import { checkLedger, type LedgerCheck, namesOf } from './check-ledger.ts';
import { executeTool, notExecuted, outcomeOf } from './execute-tool.ts';
import { buildResponse, emitOutcome, finishCall } from './finish-call.ts';
import { acquireLocks, releaseLocks } from './hold-locks.ts';
import { checkReplay, claimsOf, type ReplayCheck, recordReplay, rehearseCall } from './idempotency.ts';
import { isJudgedAfter, syncAst, takeBack, tellNews, validateChange, watchServers } from './judge-change.ts';
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
import { andThen, type Settled, settle } from './state/settle.ts';
import { announcePhase, PHASES } from './state/trail.ts';
import { refuseUnrecorded } from './state/used-key.ts';
import { isHeld } from './tool-context/permissions.ts';

const MAX_EDITS = 3;

/** `onOpen` is given the way to cancel the call before anything else happens. */
export async function runCall(
  request: CallRequest,
  parts: SessionParts,
  onOpen?: (abort: OpenCall['abort']) => void,
): Promise<ToolResponse> {
  const open = beginCall(request, parts);
  onOpen?.(open.abort);
  announcePhase(open, PHASES.preCheck, parts);
  const admitted = settle(() => admitCall(open, parts));
  const admission = admitted instanceof Promise ? await admitted : admitted;
  const outcome = admission.ok
    ? await followAdmission(admission.value, parts)
    : refuseTaped(open, await recordRefusal(open, admission.error, parts), admission.error);
  open.time.end();
  emitOutcome(open, outcome, parts);
  return buildResponse(open, outcome, parts);
}

type Admission =
  | { readonly call: AdmittedCall }
  | { readonly replay: JudgedCall; readonly answer: JsonValue }
  | TapedAdmission;

/** Everything that may still say no. Nothing has happened yet. */
function admitCall(open: OpenCall, parts: SessionParts): MaybePromise<Admission> {
  if (open.request.taped instanceof ToolError) throw open.request.taped;
  return andThen(loadTool(open, parts), (compiled) =>
    andThen(judgeUntilSettled(open, compiled, parts), (judged) =>
      andThen(
        open.time.wait('budget', () => reserveBudget(judged, parts)),
        () => admitJudged(judged, parts),
      ),
    ),
  );
}

function admitJudged(judged: JudgedCall, parts: SessionParts): MaybePromise<Admission> {
  const { taped } = judged.open.request;
  if (taped !== undefined && !(taped instanceof ToolError)) return { judged, taped };
  if (isKeyed(judged.open.request) || parts.ledger !== undefined) return admitUnlessMade(judged, parts);
  return andThen(takeLocks(judged, parts), (releaseLocks) => ({ call: { ...judged, ...UNCLAIMED, releaseLocks } }));
}

const UNCLAIMED = { claims: [], effects: [], takesOver: new Map<string, number>() } as const;

function takeLocks(call: JudgedCall, parts: SessionParts): MaybePromise<() => void> {
  call.open.span?.stage('locks');
  return call.open.time.wait(
    'locks',
    () => acquireLocks(call, parts),
    (release) => release(),
  );
}

/** A call that was made before is answered from its record. */
async function admitUnlessMade(judged: JudgedCall, parts: SessionParts): Promise<Admission> {
  const known = await lookUpCall(judged, parts);
  if (known?.recorded !== undefined) return { replay: judged, answer: known.recorded.answer };
  refuseUnrecorded(judged.open.request);
  const releaseLocks = await takeLocks(judged, parts);
  if (known === undefined) return { call: { ...judged, ...UNCLAIMED, releaseLocks } };
  const { claims, over: takesOver, names } = known;
  const noted = await settle(() => judged.open.time.wait('rehearsal', () => rehearseCall(judged, names, parts)));
  if (noted.ok) {
    const effects = parts.ledger === undefined ? [] : noted.value;
    const kept = claims.length === 0 ? claims : noted.value;
    return { call: { ...judged, claims: kept, effects, takesOver, releaseLocks } };
  }
  releaseLocks();
  throw noted.error;
}

interface KnownCall extends ReplayCheck, LedgerCheck {
  /** What is claimed: the keys of the call, or the name by which the ledger knows it. */
  readonly names: readonly KeyClaim[];
}

/** Whether the call was made before, by this host or another; undefined for a call that has no name anywhere. */
async function lookUpCall(call: JudgedCall, parts: SessionParts): Promise<KnownCall | undefined> {
  const { ledger } = parts;
  const { request, time } = call.open;
  const [hasKey, local] = [isKeyed(request), (): Promise<ReplayCheck> => checkReplay(call, parts)];
  if (ledger === undefined) {
    if (!hasKey) return undefined;
    const replay = await time.wait('key', local);
    return { ...replay, over: UNCLAIMED.takesOver, names: replay.claims };
  }
  const claims = hasKey ? claimsOf(call, parts) : [];
  const names = namesOf(call, claims, parts);
  if (names.length === 0) return undefined;
  const known = { ledger, local: hasKey ? local : undefined, parts };
  const check = await time.wait('key', () => checkLedger(call, names, known));
  return { ...check, claims, names };
}

/** An approver may edit the arguments; edited arguments start over, a bounded number of times. */
function judgeUntilSettled(open: OpenCall, compiled: CompiledTool, parts: SessionParts): MaybePromise<JudgedCall> {
  const ready = normalizeArgs(open, compiled, open.request.args, parts);
  return andThen(
    open.time.wait('turn', () => open.request.turn?.take(open.signal)),
    () =>
      andThen(judgeArgs(ready, parts), (judged) => (isAsking(judged, parts) ? askUntilSettled(judged, parts) : judged)),
  );
}

/** What a cassette answers was approved when it was recorded, so it passes where there is no approver. */
function isAsking(judged: JudgedCall, parts: SessionParts): boolean {
  if (judged.verdict !== 'ask' || isHeld(judged, parts)) return false;
  return judged.open.request.taped === undefined || parts.broker.hasApprover;
}

async function askUntilSettled(asking: JudgedCall, parts: SessionParts): Promise<JudgedCall> {
  const { open, compiled } = asking;
  let judged = asking;
  for (let edits = 0; isAsking(judged, parts); edits++) {
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

function judgeArgs(call: Call, parts: SessionParts): MaybePromise<JudgedCall> {
  const { open } = call;
  const judge = (ready: Call) => open.time.wait('gates', () => checkGates(ready, parts));
  return parts.hooks.isEmpty ? judge(call) : askHooks(call, parts).then(judge);
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
  /** Every gate's answer in order, where `hear` asked for it. */
  readonly heard: readonly HeardGate[];
}

/**
 * The same route, arguments and gates as a call, and nothing else: no record, event, span, lock or budget. Hooks are left
 * out, because they may have effects, and the coordinator too, which is asked about a plan as a whole.
 */
export async function judgeProposal(
  request: CallRequest,
  session: SessionParts,
  { hear = false }: { readonly hear?: boolean } = {},
): Promise<JudgedProposal> {
  const parts: SessionParts = { ...session, coordinator: undefined, telemetry: undefined, sealed: undefined };
  const open = beginCall(request, parts);
  open.progress.ended = true;
  const loaded = await settle(() => loadTool(open, parts));
  const ready = loaded.ok ? await settle(() => normalizeArgs(open, loaded.value, request.args, parts)) : loaded;
  if (!ready.ok) return { open, ready: undefined, judged: ready, heard: [] };
  const call = ready.value;
  const heard = hear ? await hearGates(call, parts) : [];
  const judged = hear
    ? verdictOf(call, heard)
    : await settle(() => open.time.wait('gates', () => checkGates(call, parts)));
  open.time.end();
  return { open, ready: call, judged, heard };
}

/** Every gate's answer in order, those behind a refusal too. */
async function hearGates(call: Call, parts: SessionParts): Promise<readonly HeardGate[]> {
  const heard: HeardGate[] = [];
  for (const { name, judge } of GATES) {
    const answer = await settle(() => call.open.time.wait('gates', () => judge(call, parts)));
    heard.push({ name, answer });
  }
  return heard;
}

async function followAdmission(admission: Admission, parts: SessionParts): Promise<Outcome> {
  if ('replay' in admission) return followReplay(admission.replay, admission.answer, parts);
  if ('taped' in admission) return followTape(admission, parts);
  const { call } = admission;
  const { time, span } = call.open;
  let grant: Grant | undefined;
  try {
    span?.stage('intent');
    const noted = settle(() =>
      time.wait(
        'intent',
        () => recordIntent(call, parts),
        (late, reason) => void settle(() => ('answer' in late ? undefined : closeUnused(late, reason, parts))),
      ),
    );
    const intent = noted instanceof Promise ? await noted : noted;
    if (!intent.ok) return await recordRefusal(call.open, intent.error, parts);
    if ('answer' in intent.value) return await followReplay(call, intent.value.answer, parts);
    const performed = performCall(intent.value, parts);
    const execution = performed instanceof Promise ? await performed : performed;
    grant = execution.grant;
    return await concludeCall(intent.value, execution, parts);
  } finally {
    releaseLocks(call, grant, parts);
  }
}

/** The intent came on record after the call had been answered: nothing ran, and the record says so. */
async function closeUnused(call: RecordedCall, reason: ToolError, parts: SessionParts): Promise<void> {
  const unused = notExecuted(reason);
  await recordResult(call, unused, outcomeOf(call, unused, parts), parts);
}

async function followReplay(call: JudgedCall, answer: JsonValue, parts: SessionParts): Promise<Outcome> {
  const replayed = await settle(() => recordReplay(call, answer, parts));
  return replayed.ok ? replayed.value : recordRefusal(call.open, replayed.error, parts);
}

async function followTape(admission: TapedAdmission, parts: SessionParts): Promise<Outcome> {
  const answered = await settle(() => answerTaped(admission, parts));
  if (answered.ok) return answered.value;
  const { open } = admission.judged;
  return refuseTaped(open, await recordRefusal(open, answered.error, parts), answered.error);
}

/** The effect, between its two records. */
function performCall(call: RecordedCall, parts: SessionParts): MaybePromise<Execution> {
  announcePhase(call.open, PHASES.execute, parts);
  return andThen(
    settle(() => passCommitGate(call, parts)),
    (gate) => (gate.ok ? performGated({ ...call, ...gate.value }, parts) : notExecuted(gate.error)),
  );
}

function performGated(call: GatedCall, parts: SessionParts): MaybePromise<Execution> {
  const asked = call.subject.profile.effect === 'write' ? watchServers(call, parts) : undefined;
  if (asked !== undefined) return performWatched(call, asked, parts);
  return andThen(executeGated(call, parts), (execution) => judgeExecution(call, execution, parts));
}

/** Servers that watch the files say afterwards what is new. */
async function performWatched(
  call: GatedCall,
  asked: NonNullable<ReturnType<typeof watchServers>>,
  parts: SessionParts,
): Promise<Execution> {
  const { time } = call.open;
  const watch = await settle(() => time.wait('servers', () => asked));
  const execution = await executeGated(call, parts);
  const judged = await judgeExecution(call, execution, parts);
  const tell = watch.ok ? watch.value : undefined;
  if (judged.error !== undefined || tell === undefined || hasChangedNothing(call, execution)) return judged;
  await settle(() => time.wait('servers', () => tellNews(tell, call, judged.changes)));
  return judged;
}

function judgeExecution(call: RecordedCall, execution: Execution, parts: SessionParts): MaybePromise<Execution> {
  if (execution.error !== undefined) return execution;
  announcePhase(call.open, PHASES.sync, parts);
  if (!hasChangedNothing(call, execution)) return judgeChange(call, execution, parts);
  announcePhase(call.open, PHASES.validate, parts);
  return execution;
}

/** A process writes past the log, so what it did is never known to be nothing. */
function hasChangedNothing({ subject }: RecordedCall, { changes }: Execution): boolean {
  return changes.changes.length === 0 && subject.profile.effect !== 'process';
}

/** Only calls that mean something to git have a last gate. */
function passCommitGate(call: RecordedCall, parts: SessionParts): MaybePromise<GateOutcome> {
  if (call.subject.git === undefined) return { candidate: undefined, publication: undefined };
  return call.open.time.wait(
    'commitGate',
    () => checkCommitGate(call, parts),
    ({ candidate }) => void settle(() => candidate?.index.discard()),
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

function executeGated(call: GatedCall, parts: SessionParts): MaybePromise<Execution> {
  return call.subject.git === undefined ? executeTool(call, parts) : executeForGit(call, parts);
}

async function executeForGit(call: GatedCall, parts: SessionParts): Promise<Execution> {
  const { candidate } = call;
  try {
    const execution = await executeTool(call, parts);
    if (execution.error === undefined) {
      await settle(() => call.open.time.wait('hooks', () => runHooksAfter(call, parts)));
    }
    return execution;
  } finally {
    if (candidate !== undefined) {
      await settle(() => call.open.time.wait('cleanUp', () => candidate.index.discard()));
    }
  }
}

/** On record first, then what hooks and policy still have to say. */
function concludeCall(call: RecordedCall, execution: Execution, parts: SessionParts): MaybePromise<Outcome> {
  call.open.span?.stage('result');
  if (execution.changes.paths.length > 0 || call.open.progress.checked !== undefined)
    call.open.progress.changeId = keepChangeSet(call, execution, parts);
  const recording = settle(() => recordResult(call, execution, outcomeOf(call, execution, parts), parts));
  return andThen(recording, (recorded) => {
    if (!recorded.ok) return recordRefusal(call.open, recorded.error, parts);
    announcePhase(call.open, PHASES.emit, parts);
    return finishCall(call, recorded.value, parts);
  });
}
