/** Says yes or no to a question. Who was faster is told to whoever comes second. */
import { answerApprovalSchema, approvalAnsweredSchema } from '@tool-runtime/protocol';
import { defineRoute } from '../route.ts';

export const answerApproval = defineRoute({
  id: 'answerApproval',
  method: 'post',
  path: '/v1/approvals/{approval_id}',
  summary: 'Answer a question: once, for the session, or no; edited arguments are judged again',
  scope: 'approve',
  body: answerApprovalSchema,
  answers: {
    200: { description: 'The answer that counts', schema: approvalAnsweredSchema },
    404: { description: 'No such question waits; it may have timed out, or its call was cancelled' },
    409: { description: 'Somebody was faster; `details` say who, and with which answer' },
  },
  handle: ({ host, principal, params, body }) => ({
    status: 200,
    json: host.approvals.answer({ ...body, approval_id: params['approval_id'] ?? '' }, principal),
  }),
});
