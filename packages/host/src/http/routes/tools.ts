/** The route that lists tools. */
import { type JsonObject, jsonObjectSchema, ToolError } from '@tool-runtime/protocol';
import type { ToolListing } from '@tool-runtime/sdk';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

const toolSchema = z
  .strictObject({
    name: z.string(),
    title: z.string(),
    category: z.string(),
    summary: z.string(),
    policy_notes: z.string().exactOptional(),
    kind: z.string(),
    side_effect_level: z.string(),
    effect: z.string(),
    risk: z.string(),
    idempotent: z.boolean(),
    timeout_ms: z.number(),
    max_timeout_ms: z.number(),
    args_schema: jsonObjectSchema.describe('JSON Schema 2020-12'),
    data_schema: jsonObjectSchema.describe('JSON Schema 2020-12'),
  })
  .meta({ id: 'ToolListing' });

const hiddenSchema = z
  .strictObject({
    name: z.string(),
    reason: z.string(),
    registry: z.string().exactOptional().describe('file:line that hides it'),
  })
  .meta({ id: 'HiddenTool' });

/** Tools of a session, or of one that would be opened now. */
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
      schema: z.strictObject({ tools: z.array(toolSchema), hidden: z.array(hiddenSchema) }),
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
    return { status: 200, json: { tools: tools.map(wireListing), hidden } };
  },
});

/** On the wire names are written with underscores. */
function wireListing(listing: ToolListing): z.infer<typeof toolSchema> {
  return {
    name: listing.name,
    title: listing.title,
    category: listing.category,
    summary: listing.summary,
    ...(listing.policyNotes === undefined ? {} : { policy_notes: listing.policyNotes }),
    kind: listing.kind,
    side_effect_level: listing.sideEffectLevel,
    effect: listing.effect,
    risk: listing.risk,
    idempotent: listing.idempotent,
    timeout_ms: listing.timeoutMs,
    max_timeout_ms: listing.maxTimeoutMs,
    args_schema: listing.argsSchema as JsonObject,
    data_schema: listing.dataSchema as JsonObject,
  };
}

function noSuchTool(): ToolError {
  return new ToolError('E_POLICY', 'The session has no such tool', { details: { reason: 'unknown_route' } });
}
