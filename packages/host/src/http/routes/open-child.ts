/** Opens a session that can do less than the one it belongs to, with a token of its own. */
import { childOpenedSchema, openChildSchema } from '@tool-runtime/protocol';
import { defineRoute } from '../route.ts';

export const openChild = defineRoute({
  id: 'openChild',
  method: 'post',
  path: '/v1/sessions/{session_id}/children',
  summary: 'Open a child session: part of what this session may do, for another agent, and a token for it alone',
  description:
    'The child calls, expires and resumes like any other session. The token of the parent opens, lists and ends children; ' +
    'it does not call in their name.',
  scope: 'call',
  body: openChildSchema,
  answers: {
    201: { description: 'What the child may use, and what was stripped', schema: childOpenedSchema },
    429: { description: 'The host has as many sessions as it takes' },
    503: { description: 'The host is shutting down' },
  },
  async handle({ host, principal, params, body }) {
    const parent = host.session(principal, params['session_id'] ?? '');
    const child = await host.children.open(parent, body);
    return { status: 201, json: host.describeChild(child, principal) };
  },
});
