/** The HTTP interface as an OpenAPI 3.1 document, from the very routes that serve it. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { AnyRoute } from '../http/route.ts';
import { BEARER_NOTE, DEFAULT_ADDRESS, documentInfo } from './document-info.ts';
import { describeOperation } from './operation.ts';
import { impliedRefusals, refusalAnswer, refusalName } from './refusals.ts';
import { describeRoutes, type RouteSchemas } from './route-schemas.ts';
import { tagsOf } from './tags.ts';

export interface OpenApiOptions {
  readonly version: string;
  readonly routes: readonly AnyRoute[];
}

const DESCRIPTION =
  'Sessions, calls, events and approvals over HTTP. Every refusal is an ErrorMessage. The same envelopes travel over ' +
  'WebSocket (`/v1/ws`), a Unix socket and standard input and output: see `/asyncapi.json`.';

export function openApiDocument({ version, routes }: OpenApiOptions): JsonObject {
  const schemas = describeRoutes(routes);
  return {
    openapi: '3.1.0',
    info: documentInfo(version, DESCRIPTION),
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: `http://${DEFAULT_ADDRESS}`, description: 'Where it listens unless told otherwise' }],
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
