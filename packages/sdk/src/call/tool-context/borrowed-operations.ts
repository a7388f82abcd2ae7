/**
 * A call may need an operation that its tool does not always need: a patch that deletes a file. It then needs what the
 * tools that declare this operation need: one of them must be usable under the session's ceiling, and what the approval
 * policy and the argument constraints say about them holds for the call too.
 */
import type { ToolAnnotations } from '../../contracts/annotations.ts';
import { policyDenial } from '../../contracts/failures.ts';
import type { ApprovalVerdict } from '../../policy/approval-policy.ts';
import { fromOutermost } from '../../policy/path-rule.ts';
import type { ReadyCall } from '../state/call-types.ts';
import type { CompiledTool, SessionParts } from '../state/session-parts.ts';

type Operations = ToolAnnotations['capabilities'];

/** The usable tools that declare one of the operations. */
export function lenders(operations: Operations, { tools }: SessionParts): readonly CompiledTool[] {
  const wanted = Object.entries(operations);
  return [...tools.values()].filter(({ annotations }) =>
    wanted.some(([capability, names]) => names.some((name) => declares(annotations.capabilities, capability, name))),
  );
}

function declares(capabilities: Operations, capability: string, operation: string): boolean {
  return Object.hasOwn(capabilities, capability) && capabilities[capability]?.includes(operation) === true;
}

/** Throws E_POLICY when no usable tool has an operation. A tool above the ceiling is not usable. */
export function requireOperations(operations: Operations, parts: SessionParts): void {
  for (const [capability, names] of Object.entries(operations)) {
    for (const name of names) {
      if (lenders({ [capability]: [name] }, parts).length > 0) continue;
      throw policyDenial(`No tool of this session may do what the call needs: ${capability}.${name}`, {
        details: {
          gate: 'ceiling',
          reason: 'capability_not_allowed',
          field: 'allowed_tools',
          next: `ask the operator for a tool that has ${capability}.${name}, or leave that part out`,
        },
      });
    }
  }
}

const STRICTEST: readonly ApprovalVerdict['verdict'][] = ['deny', 'ask', 'approve'];

/** The strictest verdict on the tool itself and on those whose operations the call needs. */
export function judgeApproval(call: ReadyCall, operations: Operations, parts: SessionParts): ApprovalVerdict {
  const { compiled, view } = call;
  const paths = view.paths.map((path) => fromOutermost(parts.folderPrefix, path));
  const verdicts = [compiled, ...lenders(operations, parts)].map(({ tool, annotated }) =>
    parts.approvals.judge({
      tool: tool.name,
      annotated,
      profile: view.profile,
      paths,
      asksByDefault: tool.asksByDefault === true,
    }),
  );
  const [first, ...rest] = verdicts as [ApprovalVerdict, ...ApprovalVerdict[]];
  return rest.reduce((worst, one) => (rank(one) < rank(worst) ? one : worst), first);
}

function rank({ verdict }: ApprovalVerdict): number {
  return STRICTEST.indexOf(verdict);
}

/** For what turns out while the tool runs: a verdict that asks is a refusal then. */
export function requireGranted(call: ReadyCall, operations: Operations, parts: SessionParts): void {
  requireOperations(operations, parts);
  const [lender] = lenders(operations, parts).filter(
    ({ tool, annotated }) =>
      rank(parts.approvals.judge({ tool: tool.name, annotated, profile: call.view.profile })) <
      rank({ verdict: 'approve', reason: '' }),
  );
  if (lender === undefined) return;
  throw policyDenial(`Call would need a permission it was not given: ${lender.tool.name}`, {
    details: { gate: 'approval', reason: 'operation_not_granted', next: `use ${lender.tool.name} for that part` },
  });
}
