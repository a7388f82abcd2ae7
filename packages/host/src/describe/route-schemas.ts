/** Every schema the routes mention, described together so that they share what has a name. */
import { describeSchemas, errorMessageSchema, idSchema, type JsonObject } from '@tool-runtime/protocol';
import type { z } from 'zod';
import type { AnyRoute } from '../http/route.ts';

export interface RouteSchemas {
  readonly named: Readonly<Record<string, JsonObject>>;
  readonly error: JsonObject;
  readonly id: JsonObject;
  /** Undefined when the route has none. */
  query(route: AnyRoute): JsonObject | undefined;
  body(route: AnyRoute): JsonObject | undefined;
  answer(route: AnyRoute, status: number): JsonObject | undefined;
}

export function describeRoutes(routes: readonly AnyRoute[]): RouteSchemas {
  const schemas: Record<string, z.ZodType> = { error: errorMessageSchema, id: idSchema };
  const add = (key: string, schema: z.ZodType | undefined): void => {
    if (schema !== undefined) schemas[key] = schema;
  };
  for (const route of routes) {
    add(`${route.id} query`, route.query);
    add(`${route.id} body`, route.body ?? route.envelope);
    for (const [status, { schema }] of Object.entries(route.answers)) add(`${route.id} ${status}`, schema);
  }
  const { given, named } = describeSchemas(schemas, (name) => `#/components/schemas/${name}`);
  return {
    named,
    error: given['error'] ?? {},
    id: given['id'] ?? {},
    query: ({ id }) => given[`${id} query`],
    body: ({ id }) => given[`${id} body`],
    answer: ({ id }, status) => given[`${id} ${status}`],
  };
}
