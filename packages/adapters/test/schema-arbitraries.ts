/** Random schemas of the kind tools have, random values that fit a schema, and the strict form of such a value. */
import fc from 'fast-check';
import type { JsonSchema } from '../src/list-tools.ts';
import { branchesOf, isOpenMap, isSchema, propertiesOf, requiredOf, resolveReference } from '../src/schema-shape.ts';
import type { StrictDialect } from '../src/strict-dialects.ts';

const NAMES = ['path', 'limit', 'env', 'tags', 'name', 'value', 'properties', 'a/b~c'];
const name = fc.constantFrom(...NAMES);

const leaf: fc.Arbitrary<JsonSchema> = fc.oneof(
  fc.record(
    {
      type: fc.constant('string'),
      minLength: fc.constant(1),
      default: fc.constant('x'),
      description: fc.constant('Text'),
    },
    { requiredKeys: ['type'] },
  ),
  fc.constant({ type: 'string', pattern: '^[0-9a-f]{4}$' }),
  fc.constant({ type: 'string', enum: ['auto', 'never'], default: 'auto' }),
  fc.constant({ type: 'boolean', const: true }),
  fc.constant({ type: 'integer', minimum: 1, maximum: 9 }),
  fc.constant({ type: 'number' }),
  fc.constant({ type: ['string', 'null'], default: null }),
  fc.constant({ type: ['integer', 'null'] }),
);

const { schema } = fc.letrec<{ schema: JsonSchema; object: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    tie('object'),
    tie('schema').map((items) => ({ type: 'array', items, minItems: 1 })),
    tie('schema').map((values) => ({
      type: 'object',
      propertyNames: { type: 'string' },
      additionalProperties: values,
      description: 'Map',
    })),
    fc.tuple(tie('schema'), tie('schema')).map((anyOf) => ({ anyOf, description: 'Either' })),
  ),
  object: fc
    .uniqueArray(fc.tuple(name, tie('schema'), fc.boolean()), { selector: ([key]) => key, maxLength: 4 })
    .map((members) => ({
      type: 'object',
      properties: Object.fromEntries(members.map(([key, value]) => [key, value])),
      required: members.flatMap(([key, , isRequired]) => (isRequired ? [key] : [])),
      additionalProperties: false,
    })),
}));

export const objectSchemas: fc.Arbitrary<JsonSchema> = fc
  .dictionary(fc.constantFrom('one', 'two', 'three'), schema, { noNullPrototype: true })
  .map((properties) => ({ type: 'object', properties, required: ['one'].filter((key) => key in properties) }));

/** Values the schema accepts. Null where it is the default anyway is left out: it says nothing. */
export function valuesOf(node: unknown, root: JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  if (!isSchema(node)) return fc.constant('anything');
  if ('$ref' in node)
    return depth > 4 ? fc.constant('deep') : valuesOf(resolveReference(node['$ref'], root), root, depth + 1);
  if ('const' in node) return fc.constant(node['const']);
  if (Array.isArray(node['enum'])) return fc.constantFrom(...node['enum']);
  const branches = branchesOf(node);
  if (branches !== undefined) return fc.oneof(...branches.map((branch) => valuesOf(branch, root, depth)));
  if (isOpenMap(node)) {
    return fc.dictionary(
      fc.oneof(name, fc.constant('__proto__'), fc.string()),
      valuesOf(node['additionalProperties'], root, depth),
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    );
  }
  return plainValues(node, root, depth);
}

function plainValues(node: JsonSchema, root: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const [least, most] = [Number(node['minimum'] ?? -1000), Number(node['maximum'] ?? 1_000_000)];
  switch (node['type']) {
    case 'object':
      return objects(node, root, depth);
    case 'array': {
      const items = valuesOf(node['items'], root, depth);
      return fc.array(items, { minLength: Number(node['minItems'] ?? 0), maxLength: 3 });
    }
    case 'integer':
      return fc.integer({ min: Math.max(least, -1e9), max: Math.min(most, 1e9) });
    case 'number':
      return fc.integer({ min: -5, max: 5 });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default: {
      const { pattern } = node;
      if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
      return fc.string({ minLength: Number(node['minLength'] ?? 0), maxLength: 30 });
    }
  }
}

function objects(node: JsonSchema, root: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const required = requiredOf(node);
  const members = Object.entries(propertiesOf(node)).map(([key, property]) => {
    const isNullDefault = isSchema(property) && property['default'] === null;
    const values = valuesOf(property, root, depth).filter((value) => !(isNullDefault && value === null));
    const given = required.has(key) ? values : fc.option(values, { nil: undefined, freq: 2 });
    return given.map((value) => [key, value] as const);
  });
  return fc.tuple(...members).map((entries) => Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
}

export interface StrictForm {
  readonly root: JsonSchema;
  readonly dialect: StrictDialect;
  accepts(schema: JsonSchema, value: unknown): boolean;
}

/** The value as a model under the strict schema has to write it; the inverse of restoring. */
export function toStrictForm(node: unknown, value: unknown, way: StrictForm): unknown {
  if (!isSchema(node)) return value;
  const { root, dialect } = way;
  if ('$ref' in node) return toStrictForm(resolveReference(node['$ref'], root), value, way);
  const branches = branchesOf(node);
  if (branches !== undefined) {
    const branch = branches.find((one) => isSchema(one) && way.accepts(one, value));
    return toStrictForm(branch, value, way);
  }
  if (isOpenMap(node) && isSchema(value)) {
    const entries = Object.entries(value).map(([key, member]) => [
      key,
      toStrictForm(node['additionalProperties'], member, way),
    ]);
    return dialect.hasOpenMaps
      ? Object.fromEntries(entries)
      : entries.map(([key, member]) => ({ name: key, value: member }));
  }
  if (Array.isArray(value)) return value.map((item) => toStrictForm(node['items'], item, way));
  if (!isSchema(value)) return value;
  const names = Object.keys(propertiesOf(node)).filter((key) => dialect.isAllRequired || Object.hasOwn(value, key));
  return Object.fromEntries(
    names.map((key) => [
      key,
      Object.hasOwn(value, key) ? toStrictForm(propertiesOf(node)[key], value[key], way) : null,
    ]),
  );
}

/** The schema without what a strict one may only mention in words: limits on the values of a type. */
export function withoutLimits(node: JsonSchema): JsonSchema {
  const inner = (part: unknown) => (isSchema(part) ? withoutLimits(part) : part);
  const members = (part: unknown) =>
    Object.fromEntries(Object.entries(part as object).map(([key, one]) => [key, inner(one)]));
  const kept: Record<string, unknown> = {};
  for (const keyword of ['type', 'required', '$ref', 'enum']) if (keyword in node) kept[keyword] = node[keyword];
  for (const keyword of ['items', 'additionalProperties']) if (keyword in node) kept[keyword] = inner(node[keyword]);
  for (const keyword of ['properties', '$defs']) if (keyword in node) kept[keyword] = members(node[keyword]);
  for (const keyword of ['anyOf', 'oneOf']) if (Array.isArray(node[keyword])) kept[keyword] = node[keyword].map(inner);
  return kept;
}
