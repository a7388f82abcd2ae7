/** For load balancers: 503 as soon as the host drains, while running calls still end. */
import { z } from 'zod';
import { defineRoute } from '../route.ts';

const answer = z.strictObject({ status: z.enum(['starting', 'ready', 'draining']) });

export const readyz = defineRoute({
  id: 'readyz',
  method: 'get',
  path: '/readyz',
  summary: 'New sessions and calls are taken',
  scope: 'open',
  answers: {
    200: { description: 'They are', schema: answer },
    503: { description: 'Not yet, or no longer', schema: answer },
  },
  handle: ({ host }) => ({ status: host.state === 'ready' ? 200 : 503, json: { status: host.state } }),
});
