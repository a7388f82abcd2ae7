/** Tools of a session, or of one that would be opened now. */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const listTools = defineRoute({
  id: 'listTools',
  method: 'get',
  path: '/v1/tools',
  summary: 'What a session may use, with schemas, and what is hidden from it and why',
  description: 'Without `session_id`: what a new session in the first workspace would get; needs the scope call too.',
  scope: 'read',
  query: z.strictObject({
    session_id: z.string().exactOptional(),
    name: z.string().exactOptional().describe('Only the tool of this name'),
  }),
  answers: {
    200: {
      description: 'Tools',
      schema: z.strictObject({ tools: z.array(z.looseObject({ name: z.string() })), hidden: z.array(z.unknown()) }),
    },
    404: { description: 'No such session, or it has no such tool' },
    429: { description: 'Without a session: the host has as many as it takes' },
    503: { description: 'Without a session: the host is shutting down' },
  },
  async handle({ host, principal, query }) {
    const asked = query.session_id ?? principal.sessionId;
    // Without a session there is still an answer: what a new one in the first workspace would get.
    const isTemporary = asked === undefined;
    const session = isTemporary
      ? await host.openSession(principal, { client: { name: 'GET /v1/tools' } })
      : host.session(principal, asked);
    const tools = session.served.session.tools(query.name);
    const hidden = query.name === undefined ? session.served.session.hidden() : [];
    if (isTemporary) await host.closeSession(session, { cancel: false });
    if (query.name !== undefined && tools.length === 0) throw noSuchTool();
    return { status: 200, json: { tools, hidden } };
  },
});

function noSuchTool(): ToolError {
  return new ToolError('E_POLICY', 'The session has no such tool', { details: { reason: 'unknown_route' } });
}
