/** The route that lists tools. */
import { type JsonObject, jsonObjectSchema, ToolError } from '@tool-runtime/protocol';
import type { Session, ToolListing } from '@tool-runtime/sdk';
import { z } from 'zod';
import type { Principal } from '../../auth/principal.ts';
import { defineRoute, type RouteAnswer, type RouteCall } from '../route.ts';

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
  description:
    'Without `session_id`: what a new session in the first workspace would get; needs the scope call or audit too.',
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
    const answer = (all: readonly ToolListing[], hiddenTools: ReturnType<Session['hidden']>): RouteAnswer => {
      const tools = query.name === undefined ? all : all.filter(({ name }) => name === query.name);
      if (query.name !== undefined && tools.length === 0) throw noSuchTool();
      return {
        status: 200,
        json: { tools: tools.map(wireListing), hidden: query.name === undefined ? hiddenTools : [] },
      };
    };
    if (query.session_id === undefined && isAuditor(principal)) {
      const { tools, hidden } = await host.workspaceFor(principal).runtime.preview({});
      return answer(tools, hidden);
    }
    return withSession({ host, principal, asked: query.session_id }, (session) =>
      answer(session.tools(), session.hidden()),
    );
  },
});

/** Unlike `/openapi.json` it says which tools there are, so it needs a token. */
export const toolsOpenapi = defineRoute({
  id: 'toolsOpenapi',
  method: 'get',
  path: '/v1/openapi.json',
  summary: 'This interface as an OpenAPI document, with arguments and data of every tool of a session',
  description:
    'For each tool, such as file_read, there are FileReadArgs, FileReadData, FileReadRequest and FileReadResponse. ' +
    'Without `session_id`: the tools of a new session in the first workspace; needs the scope call too.',
  scope: 'read',
  query: z.strictObject({ session_id: z.string().exactOptional() }),
  answers: {
    200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: z.literal('3.1.0') }) },
    404: { description: 'No such session' },
    429: { description: 'Without a session: the host has as many as it takes' },
    503: { description: 'Without a session: the host is shutting down' },
  },
  async handle({ host, principal, query, documents }) {
    return withSession({ host, principal, asked: query.session_id }, (session) => ({
      status: 200,
      text: documents.openApiFor(session.tools()),
    }));
  },
});

/** Auditors open no session to see what one would get: looking leaves nothing in the journal. */
function isAuditor({ scopes, sessionId }: Principal): boolean {
  return sessionId === undefined && scopes.has('audit');
}

interface AskedSession extends Pick<RouteCall, 'host' | 'principal'> {
  readonly asked: string | undefined;
}

/** Without a session there is still an answer: what a new one in the first workspace would get. */
async function withSession(
  { host, principal, asked = principal.sessionId }: AskedSession,
  answer: (session: Session) => RouteAnswer,
): Promise<RouteAnswer> {
  if (asked !== undefined) return answer(host.session(principal, asked).served.session);
  const session = await host.openSession(principal, { client: { name: 'GET /v1/tools' } });
  try {
    return answer(session.served.session);
  } finally {
    await host.closeSession(session, { cancel: false });
  }
}

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
