/** Routes for supervisors and load balancers. They need no token. */
import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** For supervisors: answers as long as the event loop turns, also while the host drains. */
export const healthz = defineRoute({
  id: 'healthz',
  method: 'get',
  path: '/healthz',
  summary: 'The process lives',
  scope: 'open',
  answers: { 200: { description: 'It does', schema: z.strictObject({ status: z.literal('ok') }) } },
  handle: () => ({ status: 200, json: { status: 'ok' } }),
});

const answer = z.strictObject({ status: z.enum(['starting', 'ready', 'draining']) });

/** For load balancers: 503 as soon as the host drains, while running calls still end. */
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
