/**
 * The way back: arguments as a strict schema made the model write them, turned into what the tool's own schema means.
 *
 * Null for what may be left out disappears, a list of names and values becomes a map again. What has neither form
 * is left alone, so arguments that follow the full schema pass unchanged.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { JsonSchema } from './list-tools.ts';
import {
  acceptedTypes,
  branchesOf,
  isOpenMap,
  isSchema,
  jsonTypeOf,
  propertiesOf,
  requiredOf,
  resolveReference,
} from './schema-shape.ts';
import { STRICT_DIALECTS, type StrictDialect, type StrictProvider } from './strict-dialects.ts';

/** `schema` is the full one. Throws E_VALIDATION_FAIL when a list gives one name twice. */
export function restoreArgs(schema: JsonSchema, provider: StrictProvider, args: unknown): unknown {
  return restore(schema, args, { root: schema, dialect: STRICT_DIALECTS[provider] });
}

interface Way {
  readonly root: JsonSchema;
  readonly dialect: StrictDialect;
}

function restore(schema: unknown, value: unknown, way: Way): unknown {
  if (!isSchema(schema)) return value;
  if ('$ref' in schema) return restore(resolveReference(schema['$ref'], way.root), value, way);
  const branches = branchesOf(schema);
  if (branches !== undefined) return restoreBranch(branches, value, way);
  if (isOpenMap(schema)) return restoreMap(schema['additionalProperties'], value, way);
  if (Array.isArray(value)) return value.map((item) => restore(schema['items'], item, way));
  return isSchema(value) ? restoreObject(schema, value, way) : value;
}

/** Branches that need restoring differ in type from all others; where several fit, none needs it. */
function restoreBranch(branches: readonly unknown[], value: unknown, way: Way): unknown {
  const type = jsonTypeOf(value);
  const mapType = way.dialect.hasOpenMaps ? 'object' : 'array';
  const fitting = branches.filter((branch) => type !== undefined && acceptedTypes(branch, way.root, mapType).has(type));
  return fitting.length === 1 ? restore(fitting[0], value, way) : value;
}

function restoreMap(values: unknown, given: unknown, way: Way): unknown {
  if (isSchema(given)) return mapValues(given, (value) => restore(values, value, way));
  if (!Array.isArray(given) || !given.every(isNamedValue)) return given;
  const names = new Set<string>();
  for (const { name } of given) {
    if (names.has(name)) throw nameGivenTwice(name);
    names.add(name);
  }
  return Object.fromEntries(given.map(({ name, value }) => [name, restore(values, value, way)]));
}

function isNamedValue(entry: unknown): entry is { readonly name: string; readonly value: unknown } {
  return isSchema(entry) && typeof entry['name'] === 'string' && 'value' in entry;
}

function restoreObject(schema: JsonSchema, value: JsonSchema, way: Way): unknown {
  const properties = propertiesOf(schema);
  const required = requiredOf(schema);
  const kept = Object.entries(value).filter(
    ([name, member]) => !(way.dialect.isAllRequired && member === null && !required.has(name)),
  );
  return Object.fromEntries(
    kept.map(([name, member]) => [
      name,
      Object.hasOwn(properties, name) ? restore(properties[name], member, way) : member,
    ]),
  );
}

function mapValues(object: JsonSchema, change: (value: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

function nameGivenTwice(name: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Name is given twice: ${JSON.stringify(name.slice(0, 100))}`, {
    details: { gate: 'arguments', reason: 'name_given_twice', next: 'give every name once' },
  });
}
