/**
 * Everything that may refuse a call whose arguments are understood, in this order: "before" hooks, then the gates on the
 * final arguments, strictest first (ceiling → argument constraints → "before" rules → approval policy → policy port →
 * coordinator), then the budgets. Each refuses by throwing; only the last three gates may ask for an approval instead.
 */
import type { CoordinatorVerdict, JsonObject } from '@tool-runtime/protocol';
import { failure, policyDenial } from '../contracts/failures.ts';
import type { HookRecord } from '../contracts/journal.ts';
import type { CallView, PolicyOutcome } from '../contracts/policy.ts';
import { askedFor } from '../shell/judge-script.ts';
import type { Call, JudgedCall } from './state/call-types.ts';
import { viewOf } from './state/call-view.ts';
import { runRules } from './state/run-rules.ts';
import type { IdentityParts, PolicyParts, RecordingParts, SessionParts } from './state/session-parts.ts';
import { checkPaths, judgeApproval, requireOperations } from './tool-context/permissions.ts';

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

export async function checkGates(call: Call, parts: SessionParts): Promise<JudgedCall> {
  const { compiled, subject } = call;
  parts.ceiling.check({
    tool: subject.tool,
    annotated: compiled.annotated,
    annotations: compiled.annotations,
    profile: subject.profile,
  });
  const operations = compiled.tool.operations?.(subject.args) ?? {};
  requireOperations(operations, parts);
  compiled.constraints.check(subject.args);
  checkPaths(call, parts, 'arguments');
  await runRules('before', call.open, subject, parts);
  const approval = judgeApproval(call, operations, parts);
  if (approval.verdict === 'deny') {
    throw policyDenial(`Approval policy denies the call: ${approval.reason}`, {
      details: { gate: 'approval', ...(approval.field === undefined ? {} : { field: approval.field }) },
    });
  }
  checkPaths(call, parts, 'approval');
  const policy = await askPolicy(call, parts);
  const ruling = await parts.coordinator?.evaluate({ ...call, view: viewOf(call, parts) });
  if (approval.verdict === 'ask') return asking(call, approval.reason);
  const asked = subject.commands.map(({ list }) => askedFor(list(), parts.registry)).find((code) => code !== undefined);
  if (asked !== undefined) return asking(call, asked);
  if (policy.asks) return asking(call, policy.code);
  return ruling === undefined
    ? { ...call, verdict: 'allow', decision: { outcome: 'allow', gate: 'policy', code: policy.code } }
    : ruledCall(call, ruling);
}

function asking(call: Call, code: string): JudgedCall {
  return { ...call, verdict: 'ask', decision: { outcome: 'ask', gate: 'approval', code } };
}

/** The approver sees who asks: the coordinator's codes are its own. */
function ruledCall(call: Call, { verdict, reason }: CoordinatorVerdict): JudgedCall {
  if (verdict === 'ask') return asking(call, `coordinator.${reason}`);
  return { ...call, verdict: 'allow', decision: { outcome: 'allow', gate: 'coordinator', code: reason } };
}

const NO_POLICY = { asks: false, code: 'tool.policy.allowed' };

/** Throws for every decision but allow and ask. */
async function askPolicy(
  call: Call,
  parts: IdentityParts & PolicyParts,
): Promise<{ readonly asks: boolean; readonly code: string }> {
  if (parts.policy === undefined) return NO_POLICY;
  const outcome = await parts.policy.evaluatePreTool(viewOf(call, parts));
  return { asks: judgePolicy(outcome), code: outcome.decision.reason.code };
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
export async function reserveBudget(
  call: JudgedCall,
  parts: IdentityParts & PolicyParts & RecordingParts,
): Promise<void> {
  if (parts.recovery.blocked && !isRepeatable(call)) {
    throw failure(
      'recovery_repair_needed',
      'repair_needed',
      'The outcome of an earlier effect is not on record, so nothing further may change',
      { details: { gate: 'recovery', next: 'make the journal writable again, then retry' } },
    );
  }
  for (const budget of parts.budgets) {
    await budget.reserve({ sessionId: call.open.sessionId, callId: call.open.callId, tool: call.subject.tool });
  }
  if (parts.coordinator !== undefined) await parts.coordinator.reserve({ ...call, view: viewOf(call, parts) });
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
