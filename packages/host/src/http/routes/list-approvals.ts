/** What waits for a yes. Arguments are shown in full: whoever approves must see what. */
import { pendingApprovalSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const listApprovals = defineRoute({
  id: 'listApprovals',
  method: 'get',
  path: '/v1/approvals',
  summary: 'Questions that wait for an answer, with the arguments in full',
  scope: 'approve',
  answers: {
    200: { description: 'Open questions', schema: z.strictObject({ approvals: z.array(pendingApprovalSchema) }) },
  },
  handle: ({ host, principal }) => ({ status: 200, json: { approvals: host.approvals.list(principal) } }),
});
