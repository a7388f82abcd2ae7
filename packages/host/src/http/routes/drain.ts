/** Lets the host stop as a signal would. The answer comes first, the stop after it. */
import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const drain = defineRoute({
  id: 'drain',
  method: 'post',
  path: '/v1/drain',
  summary: 'Stop the host after its running calls',
  scope: 'admin',
  answers: { 202: { description: 'It stops', schema: z.strictObject({ state: z.literal('draining') }) } },
  handle({ host }) {
    host.requestStop();
    return { status: 202, json: { state: 'draining' } };
  },
});
