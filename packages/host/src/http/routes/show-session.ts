/** One session, as its owner or an admin sees it. */
import { sessionInfoSchema } from '@tool-runtime/protocol';
import { infoOf } from '../../sessions/session-table.ts';
import { defineRoute } from '../route.ts';

export const showSession = defineRoute({
  id: 'showSession',
  method: 'get',
  path: '/v1/sessions/{session_id}',
  summary: 'One session',
  scope: 'read',
  answers: { 200: { description: 'The session', schema: sessionInfoSchema } },
  handle: ({ host, principal, params }) => ({
    status: 200,
    json: infoOf(host.session(principal, params['session_id'] ?? '')),
  }),
});
