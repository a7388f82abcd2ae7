/** What a JSON Schema says about the values it accepts, as far as conversion and restoring must agree on it. */
import type { JsonSchema } from './list-tools.ts';

/** The types JSON tells apart at a glance; an integer is a number there. */
export type JsonType = (typeof JSON_TYPES)[number];
const JSON_TYPES = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const;

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The definition a local reference names; undefined for any other reference. */
export function resolveReference(reference: unknown, root: JsonSchema): JsonSchema | undefined {
  const name = definitionName(reference);
  const definitions = root['$defs'];
  if (name === undefined || !isSchema(definitions) || !Object.hasOwn(definitions, name)) return undefined;
  const found = definitions[name];
  return isSchema(found) ? found : undefined;
}

export function definitionName(reference: unknown): string | undefined {
  return typeof reference === 'string' ? /^#\/\$defs\/([^/~%]+)$/.exec(reference)?.[1] : undefined;
}

/** The alternatives of a schema; a list of types is one alternative each. */
export function branchesOf(schema: JsonSchema): readonly unknown[] | undefined {
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return branches;
  const { type, description: _, title: __, default: ___, ...rest } = schema;
  return Array.isArray(type) && !isLiteral(schema) ? type.map((one) => ({ ...rest, type: one })) : undefined;
}

export function isLiteral(schema: JsonSchema): boolean {
  return 'const' in schema || Array.isArray(schema['enum']);
}

export function propertiesOf(schema: JsonSchema): Readonly<Record<string, unknown>> {
  const properties = schema['properties'];
  return isSchema(properties) ? properties : {};
}

export function requiredOf(schema: JsonSchema): ReadonlySet<string> {
  const required = schema['required'];
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []);
}

/** An object whose names are free and whose values share one schema. */
export function isOpenMap(schema: JsonSchema): boolean {
  const isFree = isSchema(schema['additionalProperties']) || schema['additionalProperties'] === true;
  return schema['type'] === 'object' && isFree && Object.keys(propertiesOf(schema)).length === 0;
}

export function jsonTypeOf(value: unknown): JsonType | undefined {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'object' ? type : undefined;
}

/** Every type of value the schema lets pass; `mapType` is what replaces an open map. References are followed once. */
export function acceptedTypes(
  schema: unknown,
  root: JsonSchema,
  mapType: 'array' | 'object' = 'object',
  seen: ReadonlySet<unknown> = new Set(),
): ReadonlySet<JsonType> {
  if (!isSchema(schema) || seen.has(schema)) return new Set();
  const met = new Set([...seen, schema]);
  if ('$ref' in schema) return acceptedTypes(resolveReference(schema['$ref'], root), root, mapType, met);
  if ('const' in schema) return typesOfValues([schema['const']]);
  if (Array.isArray(schema['enum'])) return typesOfValues(schema['enum']);
  const branches = branchesOf(schema);
  if (branches !== undefined) {
    return new Set(branches.flatMap((branch) => [...acceptedTypes(branch, root, mapType, met)]));
  }
  if (isOpenMap(schema)) return new Set([mapType]);
  const { type } = schema;
  return type === 'integer' ? new Set(['number']) : new Set(JSON_TYPES.filter((known) => known === type));
}

function typesOfValues(values: readonly unknown[]): Set<JsonType> {
  return new Set(values.flatMap((value) => jsonTypeOf(value) ?? []));
}
