/** The host in numbers, for `tool-runtime status` and for people. */
import { hostStatusSchema } from '@tool-runtime/protocol';
import { defineRoute } from '../route.ts';

export const status = defineRoute({
  id: 'status',
  method: 'get',
  path: '/v1/status',
  summary: 'The host in numbers',
  scope: 'read',
  isHostWide: true,
  answers: { 200: { description: 'Status', schema: hostStatusSchema } },
  handle: ({ host }) => ({ status: 200, json: host.status() }),
});
