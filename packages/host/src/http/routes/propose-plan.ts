/** Judges calls before they are made. Nothing runs, nothing is locked, no budget is taken. */
import { planProposalSchema, planVerdictSchema } from '@tool-runtime/protocol';
import { defineRoute } from '../route.ts';

export const proposePlan = defineRoute({
  id: 'proposePlan',
  method: 'post',
  path: '/v1/sessions/{session_id}/plans',
  summary: 'Have several calls judged, by the gates and by the coordinator, without running any',
  scope: 'call',
  body: planProposalSchema,
  answers: { 200: { description: 'The verdict on every step', schema: planVerdictSchema } },
  async handle({ host, principal, params, body }) {
    const { served } = host.session(principal, params['session_id'] ?? '');
    return { status: 200, json: await served.session.propose(body) };
  },
});
