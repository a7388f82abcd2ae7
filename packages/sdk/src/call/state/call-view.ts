/** The call as policies, hooks, approvers and the coordinator see it. Built only for sessions that have one of them. */
import type { CallView } from '../../contracts/policy.ts';
import type { Call } from './call-types.ts';
import type { IdentityParts } from './session-parts.ts';

export function viewOf(call: Call, { actor, source }: IdentityParts): CallView {
  const { open, subject, compiled } = call;
  return {
    callId: open.callId,
    sessionId: open.sessionId,
    tool: subject.tool,
    args: subject.args,
    argsSummary: call.argsSummary,
    profile: subject.profile,
    mutationClass: call.mutationClass,
    paths: subject.paths.map((path) => path.value),
    actor,
    policyRefs: compiled.route.policy_refs,
    source,
    destination: compiled.route.destination,
  };
}
