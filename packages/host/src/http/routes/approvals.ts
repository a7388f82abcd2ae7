/** Routes that list and answer approval questions. */
import { answerApprovalSchema, approvalAnsweredSchema, pendingApprovalSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** Calls that wait for approval. Arguments are shown in full, because the approver must see them. */
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

/** Answers a question. A second answer is refused and names the first. */
export const answerApproval = defineRoute({
  id: 'answerApproval',
  method: 'post',
  path: '/v1/approvals/{approval_id}',
  summary: 'Answer a question: once, for the session, or no; edited arguments are checked again',
  scope: 'approve',
  body: answerApprovalSchema,
  answers: {
    200: { description: 'The answer that counts', schema: approvalAnsweredSchema },
    404: { description: 'No such question waits; it may have timed out, or its call was cancelled' },
    409: { description: 'The question was already answered; `details` name who answered, and how' },
  },
  handle: ({ host, principal, params, body }) => ({
    status: 200,
    json: host.approvals.answer({ ...body, approval_id: params['approval_id'] ?? '' }, principal),
  }),
});
