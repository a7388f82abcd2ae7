/**
 * Everything that may refuse a call whose arguments are understood, in this order: "before" hooks, then the gates on the
 * final arguments, strictest first (ceiling → argument constraints → "before" rules → approval policy → policy port →
 * coordinator), then the budgets. Each refuses by throwing; only the last three gates may ask for an approval instead.
 */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import { failure, policyDenial } from '../contracts/failures.ts';
import type { HookRecord } from '../contracts/journal.ts';
import type { CallView, PolicyOutcome } from '../contracts/policy.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { askedFor } from '../shell/judge-script.ts';
import type { Call, JudgedCall } from './state/call-types.ts';
import { viewOf } from './state/call-view.ts';
import { runRules } from './state/run-rules.ts';
import type { IdentityParts, PolicyParts, RecordingParts, SessionParts } from './state/session-parts.ts';
import type { Settled } from './state/settle.ts';
import { checkPaths, judgeApproval, type Operations, requireOperations } from './tool-context/permissions.ts';

/**
 * Lets hooks deny a call or propose other arguments. Undefined: the arguments stay. Otherwise the pipeline normalises the
 * returned ones, and the gates check them like any others.
 */
export async function runBeforeHooks(
  call: Call,
  parts: SessionParts,
  viewWith: (args: JsonObject) => CallView,
): Promise<JsonObject | undefined> {
  const answer = await parts.hooks.runBefore(viewOf(call, parts), {
    // The next hook must see what the change really means: other paths, another profile.
    onModified: ({ args }) => viewWith(args),
  });
  if (answer.type === 'allow') return undefined;
  if (answer.type === 'deny') {
    call.open.trail.push(hookRecord(call, answer.hook, 'denied', parts));
    throw answer.error;
  }
  for (const hook of answer.hooks) call.open.trail.push(hookRecord(call, hook, 'modified', parts));
  return answer.args;
}

function hookRecord(call: Call, hook: string, action: HookRecord['action'], parts: RecordingParts): HookRecord {
  return {
    kind: 'hook',
    call_id: call.open.callId,
    session_id: call.open.sessionId,
    at_ms: parts.clock.now(),
    hook,
    action,
    before_hash: call.argsHash,
  };
}

/** A gate answers by throwing a refusal, by asking for an approval, or by letting the call pass. */
interface Gate {
  readonly name: GateName;
  judge(call: Call, parts: SessionParts): MaybePromise<GateAnswer | undefined>;
}

export type GateName =
  | 'transaction'
  | 'ceiling'
  | 'arguments'
  | 'rules'
  | 'approval'
  | 'write_paths'
  | 'commands'
  | 'policy'
  | 'coordinator';

export interface GateAnswer {
  readonly asks: boolean;
  readonly code: string;
  /** The registry field that decided, where one did. */
  readonly field?: string | undefined;
}

/** In the order in which they are asked. Calls and rehearsals of calls go through this one list. */
export const GATES: readonly Gate[] = [
  { name: 'transaction', judge: requireStageable },
  { name: 'ceiling', judge: checkCeiling },
  { name: 'arguments', judge: checkArguments },
  {
    name: 'rules',
    judge: (call, parts) => runRules('before', call.open, call.subject, parts) as MaybePromise<undefined>,
  },
  { name: 'approval', judge: checkApproval },
  {
    name: 'write_paths',
    judge(call, parts) {
      checkPaths(call, parts, 'approval');
      return undefined;
    },
  },
  { name: 'commands', judge: checkCommands },
  { name: 'policy', judge: (call, parts) => (parts.policy === undefined ? undefined : askPolicy(call, parts)) },
  {
    name: 'coordinator',
    judge: (call, parts) => (parts.coordinator === undefined ? undefined : askCoordinator(call, parts)),
  },
];

/** At once where neither a rule nor the policy nor a coordinator has to be waited for. */
export function checkGates(call: Call, parts: SessionParts): MaybePromise<JudgedCall> {
  return passGates(call, parts, ALLOWED, 0);
}

type Decision = JudgedCall['decision'];

const ALLOWED: Decision = { outcome: 'allow', gate: 'policy', code: 'tool.policy.allowed' };

function passGates(call: Call, parts: SessionParts, heard: Decision, from: number): MaybePromise<JudgedCall> {
  let decision = heard;
  for (let at = from; at < GATES.length; at++) {
    const { name, judge } = GATES[at] as Gate;
    const answer = judge(call, parts);
    if (answer instanceof Promise) {
      return answer.then((given) => passGates(call, parts, decisionAfter(decision, name, given), at + 1));
    }
    decision = decisionAfter(decision, name, answer);
  }
  return judgedAs(call, decision);
}

function judgedAs(call: Call, decision: Decision): JudgedCall {
  return { ...call, verdict: decision.outcome === 'ask' ? 'ask' : 'allow', decision };
}

/** The first gate that asks says why; otherwise the last one that speaks for itself. */
function decisionAfter(decision: Decision, name: GateName, answer: GateAnswer | undefined): Decision {
  if (answer === undefined || decision.outcome === 'ask') return decision;
  if (answer.asks) return { outcome: 'ask', gate: 'approval', code: answer.code };
  return name === 'policy' || name === 'coordinator' ? { outcome: 'allow', gate: name, code: answer.code } : decision;
}

/** What one gate says to a proposed call. */
export interface HeardGate {
  readonly name: GateName;
  readonly answer: Settled<GateAnswer | undefined>;
}

/** What the answers come to, as if the gates had been asked one after the other until one refuses. */
export function verdictOf(call: Call, heard: readonly HeardGate[]): Settled<JudgedCall> {
  let decision = ALLOWED;
  for (const { name, answer } of heard) {
    if (!answer.ok) return answer;
    decision = decisionAfter(decision, name, answer.value);
  }
  return { ok: true, value: judgedAs(call, decision) };
}

function checkCeiling({ compiled, subject }: Call, parts: SessionParts): undefined {
  parts.ceiling.check({
    tool: subject.tool,
    annotated: compiled.annotated,
    annotations: compiled.annotations,
    profile: subject.profile,
  });
  requireOperations(operationsOf(compiled, subject), parts);
}

function checkArguments(call: Call, parts: SessionParts): undefined {
  call.compiled.constraints.check(call.subject.args);
  checkPaths(call, parts, 'arguments');
}

const NO_OPERATIONS: Operations = {};

function operationsOf({ tool }: Call['compiled'], { args }: Call['subject']): Operations {
  return tool.operations?.(args) ?? NO_OPERATIONS;
}

function checkApproval(call: Call, parts: SessionParts): GateAnswer {
  const { verdict, reason, field } = judgeApproval(call, operationsOf(call.compiled, call.subject), parts);
  if (verdict !== 'deny') return { asks: verdict === 'ask', code: reason, field };
  throw policyDenial(`Approval policy denies the call: ${reason}`, {
    details: { gate: 'approval', ...(field === undefined ? {} : { field }) },
  });
}

/** What `shell_ask` and `shell.unseen` say to command lines. */
function checkCommands({ subject }: Call, { registry }: SessionParts): GateAnswer | undefined {
  for (const { list } of subject.commands) {
    const code = askedFor(list(), registry);
    if (code !== undefined)
      return { asks: true, code, field: code.startsWith('shell.') ? 'shell.unseen' : 'shell_ask' };
  }
  return undefined;
}

/** Throws when the transaction of the call is over, and for what no transaction can hold back. */
function requireStageable(
  { compiled: { tool }, subject, mutationClass }: Call,
  { ast, transaction }: SessionParts,
): undefined {
  if (transaction === undefined) return;
  if (transaction instanceof ToolError) throw transaction;
  const isLasting = mutationClass !== 'read_only' && (tool.git !== undefined || transaction.refused.has(tool.name));
  const lacksIndex = tool.needs?.includes('ast') === true && ast === undefined;
  if (tool.inTransaction !== 'refused' && !isLasting && !lacksIndex) return;
  throw policyDenial(`Call cannot be part of a transaction: ${subject.tool}`, {
    details: {
      gate: 'transaction',
      reason: 'not_in_transaction',
      tx_id: transaction.id,
      next: lacksIndex
        ? 'make this call outside of transactions: their files are not in the code index of this session'
        : 'tx_commit or tx_abort first: what this tool does is real at once',
    },
  });
}

/** The approver sees who asks: the coordinator's codes are its own. */
async function askCoordinator(call: Call, parts: SessionParts): Promise<GateAnswer | undefined> {
  const ruling = await parts.coordinator?.evaluate({ ...call, view: viewOf(call, parts) });
  if (ruling === undefined) return undefined;
  const asks = ruling.verdict === 'ask';
  return { asks, code: asks ? `coordinator.${ruling.reason}` : ruling.reason };
}

/** Throws for every decision but allow and ask. */
async function askPolicy(call: Call, parts: IdentityParts & PolicyParts): Promise<GateAnswer | undefined> {
  const outcome = await parts.policy?.evaluatePreTool(viewOf(call, parts));
  return outcome === undefined ? undefined : { asks: judgePolicy(outcome), code: outcome.decision.reason.code };
}

/** True when the policy asks; throws for everything that is neither allow nor ask. */
function judgePolicy(outcome: PolicyOutcome): boolean {
  const { type, reason } = outcome.decision;
  if (type === 'allow') return false;
  if (type === 'ask') return true;
  throw policyDenial(`Policy answered ${type}: ${reason.redacted_summary ?? reason.code}`, {
    details: { gate: 'policy', reason: reason.code },
  });
}

/** The session's own budget first; the coordinator, which may be far away, last. */
export function reserveBudget(
  call: JudgedCall,
  parts: IdentityParts & PolicyParts & RecordingParts,
): MaybePromise<void> {
  if (parts.recovery.blocked && !isRepeatable(call)) {
    throw failure(
      'recovery_repair_needed',
      'repair_needed',
      'The outcome of an earlier effect is not on record, so nothing further may change',
      { details: { gate: 'recovery', next: 'make the journal writable again, then retry' } },
    );
  }
  const { coordinator } = parts;
  const reserved = reserveNext(call, parts.budgets, 0);
  if (coordinator === undefined) return reserved;
  return Promise.resolve(reserved).then(() => coordinator.reserve({ ...call, view: viewOf(call, parts) }));
}

/** One after the other: what a refused one did not grant, the later ones must not count. */
function reserveNext(call: JudgedCall, budgets: PolicyParts['budgets'], from: number): MaybePromise<void> {
  const budget = budgets[from];
  if (budget === undefined) return;
  const { sessionId, callId } = call.open;
  const reserved: unknown = budget.reserve({ sessionId, callId, tool: call.subject.tool });
  const next = () => reserveNext(call, budgets, from + 1);
  // The port is foreign: whatever it gives back may be a promise.
  return reserved === undefined ? next() : Promise.resolve(reserved).then(next);
}

/** Whether making the call again at once has no further effect, so that it may run while a recovery marker waits. */
export function isRepeatable({
  compiled,
  mutationClass,
  subject,
}: Pick<Call, 'compiled' | 'mutationClass' | 'subject'>) {
  if (mutationClass === 'read_only') return true;
  return compiled.tool.idempotent === true && compiled.tool.isIdempotent?.(subject.args) !== false;
}
