/** Routes that open, list, show and end sessions. */
import { openSessionSchema, sessionInfoSchema, sessionOpenedSchema, usageSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { requireScope } from '../../auth/principal.ts';
import { infoOf } from '../../sessions/session-table.ts';
import { defineRoute } from '../route.ts';

/** Opens a session that lives until it is closed or falls silent, whatever happens to connections. */
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

/** Sessions of the asking token. */
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

/** One session, as its owner or an admin sees it. */
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

/** Ends a session. Its owner may, and so may an admin and, for a child, the session it belongs to. */
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
    200: {
      description: 'The child session has ended, also one whose parent is on another host; what it used',
      schema: usageSchema,
    },
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
    return session.tied === undefined ? { status: 204 } : { status: 200, json: session.served.session.usage() };
  },
});
