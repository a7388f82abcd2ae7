/** Sessions of the asking token. */
import { sessionInfoSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const listSessions = defineRoute({
  id: 'listSessions',
  method: 'get',
  path: '/v1/sessions',
  summary: 'The sessions this token may use; all of them for an admin',
  scope: 'read',
  answers: {
    200: { description: 'Sessions', schema: z.strictObject({ sessions: z.array(sessionInfoSchema) }) },
  },
  handle: ({ host, principal }) => ({ status: 200, json: { sessions: host.sessions(principal) } }),
});
