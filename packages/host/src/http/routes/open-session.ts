/** Opens a session that lives until it is closed or falls silent, whatever happens to connections. */
import { openSessionSchema, sessionOpenedSchema } from '@tool-runtime/protocol';
import { defineRoute } from '../route.ts';

export const openSession = defineRoute({
  id: 'openSession',
  method: 'post',
  path: '/v1/sessions',
  summary: 'Open a session: a workspace, a registry that can only narrow, a ceiling, and a token for it alone',
  scope: 'call',
  body: openSessionSchema,
  answers: {
    201: { description: 'What the session may use', schema: sessionOpenedSchema },
    429: { description: 'The host has as many sessions as it takes' },
    503: { description: 'The host is shutting down' },
  },
  async handle({ host, principal, body }) {
    const session = await host.openSession(principal, body);
    return { status: 201, json: host.describe(session, principal) };
  },
});
