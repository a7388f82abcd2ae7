/** `approvals`: what is asked, approved or refused by rule. */
import { z } from 'zod';
import type { ApprovalPolicy } from '../../contracts/registry.ts';
import { mergeApprovalPolicies } from '../../policy/approval-policy.ts';
import { defineSection } from '../section.ts';
import { globText, toolGlob } from '../texts.ts';

const tools = z.array(toolGlob);

const schema = z.strictObject({
  auto_approve: tools.exactOptional().describe('Tools that run without asking'),
  auto_deny: tools.exactOptional().describe('Tools that are refused without asking'),
  require_approval: tools.exactOptional().describe('Tools that always need an approval'),
  write_path_allowlist: z
    .array(globText)
    .exactOptional()
    .describe(
      'Only these paths may be written, by name and by where links lead; a write elsewhere is refused, and no approval allows it',
    ),
});

export const approvals = defineSection({
  keys: { approvals: schema.exactOptional().describe('What is asked, approved or refused by rule') },
  build: (written) => ofPolicy(written.approvals),
  toolNames: ['approvals.auto_approve.*', 'approvals.auto_deny.*', 'approvals.require_approval.*'],
  narrow: ({ host, session }) => ofPolicy(mergeApprovalPolicies(host.approvals, session.approvals)),
});

function ofPolicy(policy: ApprovalPolicy | undefined): { readonly approvals?: ApprovalPolicy } {
  return policy === undefined ? {} : { approvals: policy };
}
