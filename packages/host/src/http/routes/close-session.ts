/** Ends a session. Its owner may, and so may an admin. */
import { z } from 'zod';
import { requireScope } from '../../auth/principal.ts';
import { defineRoute } from '../route.ts';

export const closeSession = defineRoute({
  id: 'closeSession',
  method: 'delete',
  path: '/v1/sessions/{session_id}',
  summary: 'End a session; waits for its running calls, or cancels them',
  description: 'Needs the scope call for an own session, or admin for any.',
  scope: 'any',
  query: z.strictObject({ mode: z.enum(['wait', 'cancel']).default('wait').describe('What becomes of running calls') }),
  answers: { 204: { description: 'The session has ended' } },
  async handle({ host, principal, params, query }) {
    if (!principal.scopes.has('admin')) requireScope(principal, 'call');
    const session = host.session(principal, params['session_id'] ?? '');
    await host.closeSession(session, { cancel: query.mode === 'cancel' });
    return { status: 204 };
  },
});
