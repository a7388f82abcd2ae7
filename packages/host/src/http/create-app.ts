/**
 * Routes on the wire. Whoever asks is judged in the same order everywhere: address and origin, credentials, scope, then
 * query and body; only what passed reaches a route.
 */
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { ToolError } from '@tool-runtime/protocol';
import { type Context, Hono } from 'hono';
import type { Principal } from '../auth/principal.ts';
import { requireScope } from '../auth/principal.ts';
import { createDocuments, type Documents } from '../describe/documents.ts';
import type { Host } from '../host/create-host.ts';
import { errorAnswer } from '../host/served-session.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import { parseBody, parseQuery } from './parse-body.ts';
import { readBody } from './read-body.ts';
import type { AnyRoute } from './route.ts';
import * as routes from './routes/catalog.ts';
import { sendAnswer, sendError } from './send-answer.ts';

export type App = Hono<{ Bindings: HttpBindings }>;
type AppContext = Context<{ Bindings: HttpBindings }>;

const ROUTES: readonly AnyRoute[] = Object.values(routes);

/** Bodies of routes other than calls are small. */
const MAX_BODY_BYTES = 256 * 1024;

export function createApp(host: Host, gatekeeper: Gatekeeper): App {
  const app: App = new Hono({ strict: true });
  const documents = createDocuments({ version: host.serverVersion, routes: ROUTES });
  app.use('*', async (context, next) => {
    const { incoming, outgoing } = context.env;
    const problem = oddTarget(incoming.url) ?? gatekeeper.judgeExposure(incoming);
    if (problem !== undefined) return refuse(context, problem);
    for (const [name, value] of Object.entries(gatekeeper.corsHeaders(incoming))) outgoing.setHeader(name, value);
    await next();
    return undefined;
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
  const query = route.query === undefined ? undefined : parseQuery(route.query, new URL(context.req.url).searchParams);
  const body =
    route.body === undefined
      ? undefined
      : parseBody(route.body, await readBody(incoming, MAX_BODY_BYTES), MAX_BODY_BYTES);
  return route.handle({
    host,
    principal,
    params: context.req.param(),
    query,
    body,
    incoming,
    outgoing,
    documents,
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
  return new ToolError('E_VALIDATION_FAIL', 'There is nothing at this path', {
    details: { reason: 'unknown_route', next: 'see GET /openapi.json' },
  });
}

/** `GET http://elsewhere/…` is for proxies; its host is not the one that was judged. */
function oddTarget(url = ''): ToolError | undefined {
  if (url.startsWith('/')) return undefined;
  return new ToolError('E_VALIDATION_FAIL', 'Request target is not a path', { details: { reason: 'odd_target' } });
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`);
}
