/** The open children of a session. Their tokens were told once, when they were opened. */
import { sessionInfoSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const listChildren = defineRoute({
  id: 'listChildren',
  method: 'get',
  path: '/v1/sessions/{session_id}/children',
  summary: 'The open children of a session',
  scope: 'read',
  answers: {
    200: { description: 'Sessions', schema: z.strictObject({ children: z.array(sessionInfoSchema) }) },
  },
  handle: ({ host, principal, params }) => ({
    status: 200,
    json: { children: host.children.of(host.session(principal, params['session_id'] ?? '')) },
  }),
});
