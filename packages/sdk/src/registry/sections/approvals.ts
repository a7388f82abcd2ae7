/** `approvals`: what is asked, approved or refused by rule. */
import { z } from 'zod';
import type { ApprovalPolicy } from '../../contracts/registry.ts';
import { mergeApprovalPolicies } from '../../policy/approval-policy.ts';
import { defineSection } from '../section.ts';
import { globText } from '../texts.ts';

const globs = z.array(globText);

const schema = z.strictObject({
  auto_approve: globs.exactOptional().describe('Tools that run without asking'),
  auto_deny: globs.exactOptional().describe('Tools that are refused without asking'),
  require_approval: globs.exactOptional().describe('Tools that always need an approval'),
  write_path_allowlist: globs
    .exactOptional()
    .describe(
      'Only these paths may be written, by name and by where links lead; a write elsewhere is refused, and no approval allows it',
    ),
});

export const approvals = defineSection({
  keys: { approvals: schema.exactOptional().describe('What is asked, approved or refused by rule') },
  build: (written) => ofPolicy(written.approvals),
  narrow: ({ host, session }) => ofPolicy(mergeApprovalPolicies(host.approvals, session.approvals)),
});

function ofPolicy(policy: ApprovalPolicy | undefined): { readonly approvals?: ApprovalPolicy } {
  return policy === undefined ? {} : { approvals: policy };
}
