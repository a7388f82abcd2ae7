/**
 * A JSON Schema without what says nothing to an MCP client: the dialect that is the default anyway, bounds every JSON
 * number has, that keys are strings, and definitions that allow any JSON. Models pay for each byte, in every request.
 */

type Schema = Readonly<Record<string, unknown>>;

const DEFAULT_DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** Words that readers of older dialects pass over: a schema that uses them goes on saying of which dialect it is. */
const DIALECT_WORDS =
  /"(?:\$anchor|\$dynamicRef|\$dynamicAnchor|unevaluatedProperties|unevaluatedItems|dependentRequired|dependentSchemas)":/;
/** Hold values, not schemas: they are data and stay as they are. */
const VALUES = new Set(['const', 'default', 'enum', 'examples', 'required', 'dependentRequired']);
/** Name → schema: the names are no keywords. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const JSON_TYPES = ['array', 'boolean', 'null', 'number', 'object', 'string'];

export function trimSchema(schema: object): Record<string, unknown> {
  const definitions = (schema as Schema)['$defs'];
  const anything = new Set(
    isSchema(definitions)
      ? Object.keys(definitions)
          .map((name) => `#/$defs/${name}`)
          .filter((ref) => allowsAnything(definitions[ref.slice('#/$defs/'.length)], ref))
      : [],
  );
  const { $defs, ...trimmed } = trimNode(schema as Schema, anything);
  const kept = isSchema($defs) ? Object.entries($defs).filter(([name]) => !anything.has(`#/$defs/${name}`)) : [];
  return {
    ...dialectOf(schema as Schema),
    ...trimmed,
    ...(kept.length === 0 ? {} : { $defs: Object.fromEntries(kept) }),
  };
}

function dialectOf({ $schema, ...schema }: Schema): Schema {
  return $schema === DEFAULT_DIALECT && DIALECT_WORDS.test(JSON.stringify(schema)) ? { $schema } : {};
}

function trimNode(schema: Schema, anything: ReadonlySet<unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema)
      .map(([keyword, value]): [string, unknown] => [keyword, trimKeyword(keyword, value, anything)])
      .filter(([keyword, value]) => !saysNothing(keyword, value, anything)),
  );
}

function saysNothing(keyword: string, value: unknown, anything: ReadonlySet<unknown>): boolean {
  if (keyword === '$schema') return value === DEFAULT_DIALECT;
  if (keyword === 'minimum') return value === Number.MIN_SAFE_INTEGER;
  if (keyword === 'maximum') return value === Number.MAX_SAFE_INTEGER;
  if (keyword === '$ref') return anything.has(value);
  if (keyword === 'propertyNames') return isSchema(value) && value['type'] === 'string' && hasOneKey(value);
  return keyword === 'additionalProperties' && isSchema(value) && Object.keys(value).length === 0;
}

function trimKeyword(keyword: string, value: unknown, anything: ReadonlySet<unknown>): unknown {
  if (VALUES.has(keyword)) return value;
  if (!MAPS.has(keyword) || !isSchema(value)) return trimSchemas(value, anything);
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, trimSchemas(schema, anything)]));
}

function trimSchemas(value: unknown, anything: ReadonlySet<unknown>): unknown {
  if (Array.isArray(value)) return value.map((one) => trimSchemas(one, anything));
  return isSchema(value) ? trimNode(value, anything) : value;
}

/** Any string, number, boolean, null, list of the same and map of the same. */
function allowsAnything(definition: unknown, ref: string): boolean {
  const branches = isSchema(definition) && hasOneKey(definition) ? definition['anyOf'] : undefined;
  if (!Array.isArray(branches)) return false;
  const types = branches.map((branch: unknown) =>
    isSchema(branch) && isOpen(branch, ref) ? branch['type'] : undefined,
  );
  return JSON_TYPES.every((type) => types.includes(type));
}

function isOpen({ type, items, additionalProperties, propertyNames, ...others }: Schema, ref: string): boolean {
  if (Object.keys(others).length > 0) return false;
  const inner = type === 'array' ? items : type === 'object' ? additionalProperties : undefined;
  if (propertyNames !== undefined && !saysNothing('propertyNames', propertyNames, new Set())) return false;
  return inner === undefined || (isSchema(inner) && inner['$ref'] === ref && hasOneKey(inner));
}

function hasOneKey(value: object): boolean {
  return Object.keys(value).length === 1;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
