/** The policy port's plainest citizen: it allows, and says so in the same form as any other policy. */
import type { PolicyStage } from '../contracts/classes.ts';
import type { CallView, PolicyOutcome, ToolPolicy } from '../contracts/policy.ts';

export function allowAllPolicy(): ToolPolicy {
  return {
    evaluatePreTool: (call) => allowedOutcome('pre_tool', call),
    evaluatePostTool: (call) => allowedOutcome('post_tool', call),
  };
}

/** Source, destination and policy refs are the call's own. */
export function allowedOutcome(stage: PolicyStage, call: CallView): PolicyOutcome {
  return {
    stage,
    decision: { type: 'allow', reason: { code: 'tool.policy.allowed' } },
    source: call.source,
    destination: call.destination,
    policy_refs: call.policyRefs,
    privacy: 'internal',
    retention: 'run_scoped',
  };
}
