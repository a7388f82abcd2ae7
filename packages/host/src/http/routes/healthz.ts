/** For supervisors: answers as long as the event loop turns, also while the host drains. */
import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const healthz = defineRoute({
  id: 'healthz',
  method: 'get',
  path: '/healthz',
  summary: 'The process lives',
  scope: 'open',
  answers: { 200: { description: 'It does', schema: z.strictObject({ status: z.literal('ok') }) } },
  handle: () => ({ status: 200, json: { status: 'ok' } }),
});
