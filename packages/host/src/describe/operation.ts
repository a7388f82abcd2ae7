/** One route as an OpenAPI operation. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { AnyRoute } from '../http/route.ts';
import { parameterNames } from './path-parameters.ts';
import { impliedRefusals, refusalAnswer, refusalName } from './refusals.ts';
import type { RouteSchemas } from './route-schemas.ts';
import { tagOf } from './tags.ts';

export function describeOperation(route: AnyRoute, schemas: RouteSchemas): JsonObject {
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

export function scopeNote(scope: AnyRoute['scope']): string {
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
        : { description, ...contentOf(schema, type) };
  }
  return responses;
}

function contentOf(schema: JsonObject | undefined, type: string | undefined): JsonObject {
  if (type !== undefined) return { content: { [type]: { schema: schema ?? { type: 'string' } } } };
  return schema === undefined ? {} : { content: { 'application/json': { schema } } };
}
