/**
 * Every gate, on the final arguments, strictest first: ceiling → argument constraints → "before" rules → approval
 * policy → policy port → coordinator. A gate refuses by throwing; only the last three may ask for a person's word instead.
 */
import type { CoordinatorVerdict } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';
import type { PolicyOutcome } from '../contracts/policy.ts';
import type { JudgedCall, ReadyCall } from './state/call-types.ts';
import { runRules } from './state/run-rules.ts';
import type { SessionParts } from './state/session-parts.ts';
import { judgeApproval, requireOperations } from './tool-context/borrowed-operations.ts';
import { checkPaths } from './tool-context/path-rule-of.ts';

export async function checkGates(call: ReadyCall, parts: SessionParts): Promise<JudgedCall> {
  const { compiled, subject, view } = call;
  parts.ceiling.check({
    tool: view.tool,
    annotated: compiled.annotated,
    annotations: compiled.annotations,
    profile: view.profile,
  });
  const operations = compiled.tool.operations?.(call.args) ?? {};
  requireOperations(operations, parts);
  compiled.constraints.check(call.args);
  checkPaths(call, parts, 'arguments');
  await runRules('before', call.open, subject, parts);
  const approval = judgeApproval(call, operations, parts);
  if (approval.verdict === 'deny') {
    throw policyDenial(`Approval policy denies the call: ${approval.reason}`, {
      details: { gate: 'approval', ...(approval.field === undefined ? {} : { field: approval.field }) },
    });
  }
  checkPaths(call, parts, 'approval');
  const outcome = await parts.policy.evaluatePreTool(view);
  const policyAsks = judgePolicy(outcome);
  const ruling = parts.coordinator === undefined ? undefined : await parts.coordinator.evaluate(call);
  const { code } = outcome.decision.reason;
  if (approval.verdict === 'ask') return asking(call, approval.reason);
  if (policyAsks) return asking(call, code);
  return ruling === undefined
    ? { ...call, verdict: 'allow', decision: { outcome: 'allow', gate: 'policy', code } }
    : ruledCall(call, ruling);
}

function asking(call: ReadyCall, code: string): JudgedCall {
  return { ...call, verdict: 'ask', decision: { outcome: 'ask', gate: 'approval', code } };
}

/** The approver is told who asks: the coordinator's codes are its own. */
function ruledCall(call: ReadyCall, { verdict, reason }: CoordinatorVerdict): JudgedCall {
  if (verdict === 'ask') return asking(call, `coordinator.${reason}`);
  return { ...call, verdict: 'allow', decision: { outcome: 'allow', gate: 'coordinator', code: reason } };
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
