/** Routes that open, list and detach child sessions. */
import { childOpenedSchema, detachChildSchema, openChildSchema, sessionInfoSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** Opens a session that can do less than the one it belongs to, with a token of its own. */
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

/** The open children of a session. Their tokens were told once, when they were opened. */
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

/** Lets a child go on without its parent. */
export const detachChild = defineRoute({
  id: 'detachChild',
  method: 'post',
  path: '/v1/sessions/{session_id}/detach',
  summary: 'Let a child go on without its parent, which may then end',
  description:
    'For a child that was opened as `reclaimable`, where the registry allows it (`children.allow_detach`). The token of the ' +
    'parent may, and that of the owner; that of the child itself may not.',
  scope: 'call',
  body: detachChildSchema,
  answers: {
    204: { description: 'The child is on its own' },
    403: { description: 'It belongs to its parent, or the registry or the token does not allow it' },
    409: { description: 'It was detached before' },
  },
  async handle({ host, principal, params, body }) {
    await host.children.detach(principal, params['session_id'] ?? '', body);
    return { status: 204 };
  },
});
