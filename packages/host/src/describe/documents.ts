/** The OpenAPI and AsyncAPI documents of a host, made on first use. */

import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ToolListing } from '@tool-runtime/sdk';
import type { Documents } from '../http/route.ts';
import { ROUTES } from '../http/route-list.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { openApiDocument } from './openapi.ts';

type Schemas = Readonly<Record<string, JsonObject>>;

export function createDocuments(version: string): Documents {
  const about = { version, routes: ROUTES };
  let openApi: string | undefined;
  let asyncApi: string | undefined;
  return {
    openApi() {
      openApi ??= JSON.stringify(openApiDocument(about));
      return openApi;
    },
    openApiFor: (tools) => JSON.stringify(withTools(openApiDocument(about), tools)),
    asyncApi() {
      asyncApi ??= JSON.stringify(asyncApiDocument(about));
      return asyncApi;
    },
  };
}

/**
 * The OpenAPI document with the tools of one session in it: for each tool the schemas of its arguments, its data, its
 * request and its answer, so that programs in other languages can generate typed calls.
 *
 * `ToolRequest` and `ToolResponse` become what each tool takes and gives, told apart by `tool`.
 */
function withTools(document: JsonObject, listings: readonly ToolListing[]): JsonObject {
  const components = document['components'] as JsonObject;
  const schemas = components['schemas'] as Schemas;
  const { ToolRequest: request, ToolResponse: response } = schemas;
  if (request === undefined || response === undefined) throw new TypeError('The document has no calls');
  const names = namesOf(listings);
  const own = listings.flatMap((listing): (readonly [string, JsonObject])[] => {
    const name = names.get(listing.name) ?? listing.name;
    const data = { oneOf: [refTo(`${name}Data`), { type: 'null' }] };
    return [
      [`${name}Args`, moved(listing.argsSchema as JsonObject, `${name}Args`)],
      [`${name}Data`, moved(listing.dataSchema as JsonObject, `${name}Data`)],
      [`${name}Request`, withFields(request, { tool: { const: listing.name }, args: refTo(`${name}Args`) })],
      [`${name}Response`, withFields(response, { tool: { const: listing.name }, data })],
    ];
  });
  const all = {
    ...schemas,
    ...Object.fromEntries(own),
    ToolRequest: unionOf(names, 'Request'),
    // A refused call of an unknown tool is answered with the name it came with.
    ToolResponse: { anyOf: [...refsOf(names, 'Response'), withFields(response, { ok: { const: false } })] },
  };
  return { ...document, components: { ...components, schemas: all } };
}

/** `file_read` → `FileRead`; where two would be one, the later ones are numbered. */
function namesOf(listings: readonly ToolListing[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    listings.map(({ name }) => {
      const base = name
        .split(/[^A-Za-z0-9]+/)
        .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
        .join('');
      let chosen = base === '' ? 'Tool' : base;
      for (let count = 2; taken.has(chosen); count++) chosen = `${base}${count}`;
      taken.add(chosen);
      return [name, chosen];
    }),
  );
}

function unionOf(names: ReadonlyMap<string, string>, what: string): JsonObject {
  const mapping = Object.fromEntries([...names].map(([tool, name]) => [tool, `#/components/schemas/${name}${what}`]));
  return { oneOf: refsOf(names, what), discriminator: { propertyName: 'tool', mapping } };
}

function refsOf(names: ReadonlyMap<string, string>, what: string): JsonObject[] {
  return [...names.values()].map((name) => refTo(`${name}${what}`));
}

function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function withFields(schema: JsonObject, fields: JsonObject): JsonObject {
  return { ...schema, properties: { ...(schema['properties'] as JsonObject), ...fields } };
}

/** References inside the schema start at its own root, which lies deeper here. */
function moved({ $schema: _, $id: __, ...schema }: JsonObject, name: string): JsonObject {
  return movedValue(schema, `#/components/schemas/${name}`) as JsonObject;
}

function movedValue(value: JsonValue, root: string): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => movedValue(item, root));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
    const isPointer = key === '$ref' && typeof item === 'string' && /^#(?:\/|$)/.test(item);
    return [key, isPointer ? `${root}${item.slice(1)}` : movedValue(item, root)];
  });
  return Object.fromEntries(entries);
}
