/** Routes that list and answer approval questions. */
import { answerApprovalSchema, approvalAnsweredSchema, pendingApprovalSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { Principal } from '../../auth/principal.ts';
import type { OtherDesks } from '../../sessions/approval-desk.ts';
import type { Host } from '../../sessions/create-host.ts';
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
  async handle({ host, principal }) {
    const here = host.approvals.list(principal);
    const elsewhere = (await othersFor(host, principal)?.list(principal.name)) ?? [];
    return { status: 200, json: { approvals: [...here, ...elsewhere] } };
  },
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
  async handle({ host, principal, params, body }) {
    const given = { ...body, approval_id: params['approval_id'] ?? '' };
    const isElsewhere = !host.approvals.knows(given.approval_id);
    const elsewhere = isElsewhere ? await othersFor(host, principal)?.answer(given, principal.name) : undefined;
    return { status: 200, json: elsewhere ?? host.approvals.answer(given, principal) };
  },
});

/** A caller from the fleet asks each host itself: what it may do differs from host to host. */
function othersFor(host: Host, { workspace }: Principal): OtherDesks | undefined {
  return workspace === undefined ? host.otherDesks : undefined;
}
