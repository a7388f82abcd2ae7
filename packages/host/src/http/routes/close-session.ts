/** Ends a session. Its owner may, and so may an admin and, for a child, the session it belongs to. */
import { usageSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { requireScope } from '../../auth/principal.ts';
import { defineRoute } from '../route.ts';

export const closeSession = defineRoute({
  id: 'closeSession',
  method: 'delete',
  path: '/v1/sessions/{session_id}',
  summary: 'End a session; waits for its running calls, or cancels them',
  description:
    'Needs the scope call for an own session, or admin for any. The token of a session may also end its children. A session ' +
    'with open children is only ended by `cancel`, which cancels them too.',
  scope: 'any',
  query: z.strictObject({ mode: z.enum(['wait', 'cancel']).default('wait').describe('What becomes of running calls') }),
  answers: {
    200: { description: 'The child session has ended; what it used', schema: usageSchema },
    204: { description: 'The session has ended' },
    409: { description: 'It has open children' },
  },
  async handle({ host, principal, params, query }) {
    if (!principal.scopes.has('admin')) requireScope(principal, 'call');
    const session = host.children.endable(principal, params['session_id'] ?? '');
    const cancel = query.mode === 'cancel';
    if (session.child !== undefined) {
      return { status: 200, json: await host.children.end(session, { cancel, by: principal.name }) };
    }
    await host.closeSession(session, { cancel });
    return { status: 204 };
  },
});
