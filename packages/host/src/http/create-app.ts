/**
 * Routes on the wire. Every request is checked in the same order: target, address and origin (by the server,
 * before this), credentials, scope, then query and body; only what passed reaches a route.
 */
import { fileURLToPath } from 'node:url';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { describeIssues, scanJson, ToolError } from '@tool-runtime/protocol';
import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { type Principal, requireScope } from '../auth/principal.ts';
import { inPackage } from '../ops/host-version.ts';
import type { Host } from '../sessions/create-host.ts';
import { errorAnswer } from '../sessions/refusals.ts';
import { type Gatekeeper, unknownRoute } from './gatekeeper.ts';
import { createPages } from './pages.ts';
import { readBody } from './read-body.ts';
import type { AnyRoute, Documents, McpEndpoint } from './route.ts';
import { ROUTES } from './route-list.ts';
import { sendAnswer, sendError } from './send-answer.ts';

export type App = Hono<{ Bindings: HttpBindings }>;
type AppContext = Context<{ Bindings: HttpBindings }>;

/** Bodies of routes other than calls are small. */
const MAX_BODY_BYTES = 256 * 1024;

export interface AppOptions extends AppParts {
  readonly mcp: McpEndpoint;
}

export function createApp({ host, gatekeeper, documents, mcp }: AppOptions): App {
  const app: App = new Hono({ strict: true });
  const pages = createPages(fileURLToPath(inPackage('dist/console')));
  app.use('*', async (context, next) => {
    const { incoming, outgoing } = context.env;
    for (const [name, value] of Object.entries(gatekeeper.corsHeaders(incoming))) outgoing.setHeader(name, value);
    await next();
  });
  app.options('*', (context) => {
    sendAnswer(context.env.outgoing, { status: 204 });
    return RESPONSE_ALREADY_SENT;
  });
  for (const route of ROUTES) {
    app.on(route.method.toUpperCase(), honoPath(route.path), async (context) => {
      try {
        sendAnswer(context.env.outgoing, await serveRoute(route, context, { host, gatekeeper, documents }));
      } catch (thrown) {
        return refuse(context, thrown, host);
      }
      return RESPONSE_ALREADY_SENT;
    });
  }
  // Not a route like the others: MCP has its own methods, bodies and errors, and streams its answers.
  app.all('/mcp', async (context) => {
    try {
      const principal = gatekeeper.authenticate(context.env.incoming);
      requireScope(principal, 'call');
      return await mcp.fetch(context.req.raw, principal);
    } catch (thrown) {
      return refuse(context, thrown, host);
    }
  });
  for (const path of ['/', '/console/:file']) {
    app.get(path, (context) => {
      try {
        pages.send(context.env.incoming, context.env.outgoing, context.req.param('file'));
      } catch (thrown) {
        return refuse(context, thrown, host);
      }
      return RESPONSE_ALREADY_SENT;
    });
  }
  app.notFound((context) => refuse(context, notFound(context.req.path, context.req.method)));
  app.onError((thrown, context) => refuse(context as AppContext, thrown, host));
  return app;
}

interface AppParts {
  readonly host: Host;
  readonly gatekeeper: Gatekeeper;
  readonly documents: Documents;
}

async function serveRoute(route: AnyRoute, context: AppContext, { host, gatekeeper, documents }: AppParts) {
  const { incoming, outgoing } = context.env;
  const principal = route.scope === 'open' ? NOBODY : gatekeeper.authenticate(incoming);
  if (route.scope !== 'open' && route.scope !== 'any') requireScope(principal, route.scope);
  if (route.isHostWide === true) requireWholeHost(principal, route.isOfWorkspace === true);
  const query = route.query === undefined ? undefined : parseQuery(route.query, new URL(context.req.url).searchParams);
  const body =
    route.body === undefined
      ? undefined
      : parseBody(route.body, await readBody(incoming, MAX_BODY_BYTES), MAX_BODY_BYTES);
  const isWelcome = (): boolean => route.scope === 'open' || gatekeeper.isWelcome(principal);
  return route.handle({
    host,
    principal,
    isWelcome,
    isOwnPage: () => gatekeeper.isOwnPage(incoming),
    params: context.req.param(),
    query,
    body,
    incoming,
    outgoing,
    documents,
  });
}

function requireWholeHost({ sessionId, workspace }: Principal, isOfWorkspace: boolean): void {
  if (sessionId !== undefined) {
    throw new ToolError('E_POLICY', 'The token of a session says nothing about the host', {
      details: { gate: 'auth', reason: 'session_token', next: 'use a token of the host with the scope read' },
    });
  }
  if (workspace === undefined || isOfWorkspace) return;
  throw new ToolError('E_POLICY', 'A caller from the fleet learns nothing about the host beyond its workspace', {
    details: { gate: 'auth', reason: 'workspace_not_allowed', next: 'ask with tool-runtime fleet status' },
  });
}

const NOBODY: Principal = { id: '', name: '', scopes: new Set() };

function refuse(context: AppContext, thrown: unknown, host?: Host): Response {
  const error = errorAnswer(thrown, null);
  if (error.code === 'E_INTERNAL' && host !== undefined) host.log.error('request_failed', { error: thrown });
  sendError(context.env.outgoing, error);
  return RESPONSE_ALREADY_SENT;
}

function notFound(path: string, method: string): ToolError {
  const others = ROUTES.filter((route) => patternOf(route.path).test(path)).map((route) => route.method.toUpperCase());
  if (others.length > 0) {
    return new ToolError('E_VALIDATION_FAIL', `Method is not known here: ${method.slice(0, 20)}`, {
      details: { reason: 'method_not_allowed', allowed: others, next: `use ${others.join(' or ')}` },
    });
  }
  return unknownRoute();
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`);
}

/** An empty body stands for `{}`: every field of the bodies here is optional or named in the refusal. */
function parseBody<Schema extends z.ZodType>(schema: Schema, text: string, maxBytes: number): z.infer<Schema> {
  const given = text === '' ? '{}' : text;
  scanJson(given, { maxBytes });
  return parseWith(schema, JSON.parse(given), 'body');
}

function parseQuery<Schema extends z.ZodType>(schema: Schema, query: URLSearchParams): z.infer<Schema> {
  const names = [...query.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new ToolError('E_VALIDATION_FAIL', `Query names a parameter twice: ${repeated.slice(0, 64)}`, {
      details: { reason: 'repeated_parameter' },
    });
  }
  return parseWith(schema, Object.fromEntries(query), 'query');
}

function parseWith<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { message, path, issues } = describeIssues(parsed.error, value);
  throw new ToolError('E_VALIDATION_FAIL', `Invalid ${what}: ${message}`, {
    ...(path === undefined ? {} : { path }),
    details: { reason: 'invalid_fields', fields: issues.map((issue) => issue.path) },
  });
}
