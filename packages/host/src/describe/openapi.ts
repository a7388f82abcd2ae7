/** The HTTP interface as an OpenAPI 3.1 document, from the very routes that serve it. */
import { describeSchemas, errorMessageSchema, idSchema, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { z } from 'zod';
import type { AnyRoute } from '../http/route.ts';
import { BEARER_NOTE, DEFAULT_ADDRESS, documentInfo } from './document-info.ts';

export interface OpenApiOptions {
  readonly version: string;
  readonly routes: readonly AnyRoute[];
}

const DESCRIPTION =
  'Sessions, calls, events and approvals over HTTP. Every refusal is an ErrorMessage. The same envelopes travel over ' +
  'WebSocket (`/v1/ws`), a Unix socket and standard input and output: see `/asyncapi.json`.';

interface RouteSchemas {
  readonly named: Readonly<Record<string, JsonObject>>;
  readonly error: JsonObject;
  readonly id: JsonObject;
  /** Undefined when the route has none. */
  query(route: AnyRoute): JsonObject | undefined;
  body(route: AnyRoute): JsonObject | undefined;
  answer(route: AnyRoute, status: number): JsonObject | undefined;
  data(route: AnyRoute, status: number): JsonObject | undefined;
}

export function openApiDocument({ version, routes }: OpenApiOptions): JsonObject {
  const schemas = describeRoutes(routes);
  return {
    openapi: '3.1.0',
    info: documentInfo(version, DESCRIPTION),
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: `http://${DEFAULT_ADDRESS}`, description: 'Where it listens by default' }],
    security: [{ bearer: [] }],
    tags: tagsOf(routes.map(({ path }) => path)).map((tag) => ({ ...tag })),
    paths: pathsOf(routes, schemas),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: BEARER_NOTE } },
      responses: commonRefusals(routes, schemas.error),
      schemas: inOrder(schemas.named),
    },
  };
}

function pathsOf(routes: readonly AnyRoute[], schemas: RouteSchemas): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    const methods = paths[route.path] ?? {};
    methods[route.method] = describeOperation(route, schemas);
    paths[route.path] = methods;
  }
  return inOrder(paths);
}

function commonRefusals(routes: readonly AnyRoute[], error: JsonObject): JsonObject {
  const statuses = new Set(routes.flatMap((route) => impliedRefusals(route).filter((one) => !(one in route.answers))));
  return inOrder(
    Object.fromEntries(Array.from(statuses, (status) => [refusalName(status), refusalAnswer(status, error)])),
  );
}

function inOrder(entries: Readonly<Record<string, JsonObject>>): JsonObject {
  return Object.fromEntries(Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** One route as an OpenAPI operation. */
function describeOperation(route: AnyRoute, schemas: RouteSchemas): JsonObject {
  const parameters = parametersOf(route, schemas);
  const body = schemas.body(route);
  return {
    operationId: route.id,
    tags: [tagOf(route.path)],
    summary: route.summary,
    description: [route.description, scopeNote(route.scope)].filter((part) => part !== undefined).join('\n\n'),
    ...(route.scope === 'open' ? { security: [] } : {}),
    'x-scope': route.scope,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(route, body) }),
    responses: responsesOf(route, schemas),
  };
}

function scopeNote(scope: AnyRoute['scope']): string {
  if (scope === 'open') return 'Needs no token.';
  return scope === 'any' ? 'Needs a token.' : `Needs a token with the scope \`${scope}\`.`;
}

function parametersOf(route: AnyRoute, schemas: RouteSchemas): JsonObject[] {
  const query = schemas.query(route);
  const required = (query?.['required'] ?? []) as readonly string[];
  const properties = (query?.['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  return [
    ...parameterNames(route.path).map((name) => ({ name, in: 'path', required: true, schema: schemas.id })),
    ...Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema,
    })),
    ...Object.entries(route.headers ?? {}).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ];
}

/** A body may be left out where an empty object would do: the host reads nothing as `{}`. */
function requestBody(route: AnyRoute, schema: JsonObject): JsonObject {
  return {
    required: route.body?.safeParse({}).success !== true,
    content: { 'application/json': { schema } },
  };
}

function responsesOf(route: AnyRoute, schemas: RouteSchemas): JsonObject {
  const responses: Record<string, JsonValue> = {};
  for (const status of impliedRefusals(route)) {
    responses[status] = { $ref: `#/components/responses/${refusalName(status)}` };
  }
  for (const [key, { description, type }] of Object.entries(route.answers)) {
    const status = Number(key);
    const schema = schemas.answer(route, status);
    responses[key] =
      status >= 400 && schema === undefined
        ? refusalAnswer(status, schemas.error, description)
        : { description, ...contentOf(schema, type, schemas.data(route, status)) };
  }
  return responses;
}

function contentOf(schema: JsonObject | undefined, type: string | undefined, data: JsonObject | undefined): JsonObject {
  const text = { type: 'string', ...(data === undefined ? {} : { contentSchema: data }) };
  if (type !== undefined) return { content: { [type]: { schema: schema ?? text } } };
  return schema === undefined ? {} : { content: { 'application/json': { schema } } };
}

interface Tag {
  readonly name: string;
  readonly description: string;
}

const TAGS: readonly (Tag & { readonly paths: RegExp })[] = [
  { name: 'calls', description: 'Calls of tools, and their answers', paths: /^\/v1\/(?:call|tools)$|\/calls\// },
  { name: 'plans', description: 'What the gates would answer to calls that have not been made', paths: /\/plans$/ },
  {
    name: 'policy',
    description: 'What a registry would answer to calls, and what another one changes',
    paths: /^\/v1\/policy/,
  },
  { name: 'children', description: 'Sessions that belong to another session', paths: /\/(?:children|detach)$/ },
  { name: 'sessions', description: 'What a client may use, and for how long', paths: /^\/v1\/sessions/ },
  { name: 'events', description: 'What happens while calls run', paths: /^\/v1\/events/ },
  { name: 'approvals', description: 'Questions that a person answers', paths: /^\/v1\/approvals/ },
  { name: 'servers', description: 'MCP servers that a registry mounts', paths: /^\/v1\/mcp/ },
  { name: 'fleet', description: 'The hosts that this one works with', paths: /^\/v1\/fleet/ },
  {
    name: 'records',
    description: 'What the journal says about every session, for people who look back',
    paths: /^\/v1\/(?:records|calls|families|journal|registry|activity|metrics)/,
  },
  { name: 'console', description: 'Sign-in of the console', paths: /^\/v1\/console/ },
  { name: 'host', description: 'The host itself', paths: /^/ },
];

/** The first tag that matches the path of a route. */
export function tagOf(path: string): string {
  return TAGS.find(({ paths }) => paths.test(path))?.name ?? 'host';
}

export function tagsOf(paths: readonly string[]): readonly Tag[] {
  const used = new Set(paths.map(tagOf));
  return TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }));
}

/** Every schema the routes mention, described together so that they share what has a name. */
function describeRoutes(routes: readonly AnyRoute[]): RouteSchemas {
  const schemas: Record<string, z.ZodType> = { error: errorMessageSchema, id: idSchema };
  const add = (key: string, schema: z.ZodType | undefined): void => {
    if (schema !== undefined) schemas[key] = schema;
  };
  for (const route of routes) {
    add(`${route.id} query`, route.query);
    add(`${route.id} body`, route.body ?? route.envelope);
    for (const [status, { schema, data }] of Object.entries(route.answers)) {
      add(`${route.id} ${status}`, schema);
      add(`${route.id} ${status} data`, data);
    }
  }
  const { given, named } = describeSchemas(schemas, (name) => `#/components/schemas/${name}`);
  return {
    named,
    error: given['error'] ?? {},
    id: given['id'] ?? {},
    query: ({ id }) => given[`${id} query`],
    body: ({ id }) => given[`${id} body`],
    answer: ({ id }, status) => given[`${id} ${status}`],
    data: ({ id }, status) => given[`${id} ${status} data`],
  };
}

interface Refusal {
  readonly name: string;
  readonly description: string;
  readonly headers?: JsonObject;
}

const RETRY_AFTER: JsonObject = {
  'Retry-After': { description: 'Seconds to wait before another try', schema: { type: 'integer', minimum: 0 } },
};

const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: { name: 'Invalid', description: 'The request, or a field of it, is not what it should be' },
  401: {
    name: 'TokenNeeded',
    description: 'The token is missing, unknown or expired',
    headers: { 'WWW-Authenticate': { description: 'Always a Bearer challenge', schema: { type: 'string' } } },
  },
  403: { name: 'NotAllowed', description: 'The token lacks the scope, or the Host or Origin header is not welcome' },
  404: { name: 'NotFound', description: 'There is nothing with this name, or it belongs to another client' },
  409: { name: 'Conflict', description: 'It was done before' },
  413: { name: 'TooLarge', description: 'The body is larger than the limit' },
  429: {
    name: 'LimitReached',
    description: 'The host has as many as it takes, or too many attempts with a wrong token came from here',
    headers: RETRY_AFTER,
  },
  500: { name: 'Failed', description: 'The host failed; its log says more' },
  502: { name: 'ServerFailed', description: 'Another server, which the host had to ask, failed', headers: RETRY_AFTER },
  503: { name: 'NotNow', description: 'The host is starting or shutting down', headers: RETRY_AFTER },
};

/**
 * The refusals of a route that follow from what it takes, so no route has to list them.
 *
 * The statuses a route refuses with, in addition to those it names itself.
 */
function impliedRefusals(route: AnyRoute): readonly number[] {
  if (route.scope === 'open') return [403];
  const takesBody = route.body !== undefined || route.envelope !== undefined;
  const [named, sized] = [parameterNames(route.path).length > 0 ? [404] : [], takesBody ? [413] : []];
  return [400, 401, 403, ...named, ...sized, 429, 500];
}

/** `description` replaces the general one. */
function refusalAnswer(status: number, schema: JsonObject, description?: string): JsonObject {
  const refusal = refusalOf(status);
  return {
    description: description ?? refusal.description,
    ...(refusal.headers === undefined ? {} : { headers: refusal.headers }),
    content: { 'application/json': { schema } },
  };
}

function refusalName(status: number): string {
  return refusalOf(status).name;
}

function refusalOf(status: number): Refusal {
  const refusal = REFUSALS[status];
  if (refusal === undefined) throw new TypeError(`A route answers with a status that has no description: ${status}`);
  return refusal;
}

/** `/v1/sessions/{session_id}` → `['session_id']` */
function parameterNames(path: string): readonly string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1] ?? '');
}
