/**
 * The walk of a schema into a provider's subset. Every keyword is either understood, moved into the description,
 * or reported; an unknown one is reported too, because its meaning is unknown.
 */
import type { JsonSchema } from './list-tools.ts';
import {
  acceptedTypes,
  branchesOf,
  definitionName,
  isLiteral,
  isOpenMap,
  isSchema,
  jsonTypeOf,
  propertiesOf,
  requiredOf,
  resolveReference,
} from './schema-shape.ts';
import type { StrictDialect } from './strict-dialects.ts';

const ANNOTATIONS = ['title', 'description', 'default', 'examples', '$comment', 'deprecated', 'readOnly', 'writeOnly'];
const WORDS = ['default', 'examples', 'deprecated', 'contentEncoding', 'contentMediaType'];
const LIMITS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['minItems', 'maxItems', 'uniqueItems'],
  object: ['minProperties', 'maxProperties'],
  boolean: [],
  null: [],
};

/** What a strict schema keeps of the limits on values, and the words for what it cannot keep. */
function limitsOf(schema: JsonSchema, type: string, dialect: StrictDialect) {
  const kept: Record<string, unknown> = {};
  const moved: string[] = [];
  for (const keyword of LIMITS[type] ?? []) {
    const limit = schema[keyword];
    if (limit === undefined) continue;
    if (isKept(keyword, limit, dialect)) kept[keyword] = limit;
    else moved.push(`${keyword} ${JSON.stringify(limit)}`);
  }
  return { kept, moved };
}

function isKept(keyword: string, limit: unknown, { keptLimits, keptFormats, maxMinItems }: StrictDialect): boolean {
  if (keyword === 'format') return keptFormats.has(String(limit));
  if (keyword === 'minItems') return keptLimits.has(keyword) && Number(limit) <= maxMinItems;
  return keptLimits.has(keyword);
}

/** Title and description, the latter with everything that has no place elsewhere. */
function described(schema: JsonSchema, notes: readonly string[]): JsonSchema {
  const words = WORDS.flatMap((keyword) => {
    const value = schema[keyword];
    return value === undefined ? [] : [`${keyword} ${JSON.stringify(value)}`];
  });
  const all = [...notes, ...words];
  const text = [schema['description'], all.length === 0 ? undefined : `(${all.join(', ')})`]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ');
  return {
    ...(typeof schema['title'] === 'string' ? { title: schema['title'] } : {}),
    ...(text === '' ? {} : { description: text }),
  };
}

export type Report = (path: string, reason: string) => void;

const KNOWN = new Set([
  ...ANNOTATIONS,
  ...WORDS,
  ...Object.values(LIMITS).flat(),
  ...['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref', '$defs'],
  ...['properties', 'required', 'additionalProperties', 'propertyNames', 'items'],
]);

interface Walk {
  readonly root: JsonSchema;
  readonly dialect: StrictDialect;
  readonly report: Report;
  /** Definitions that are referred to; the others are dropped. */
  readonly definitions: Map<string, JsonSchema | undefined>;
}

export function convertSchema(schema: JsonSchema, dialect: StrictDialect, report: Report): JsonSchema {
  const walk: Walk = { root: schema, dialect, report, definitions: new Map() };
  const { $defs: _, ...body } = schema;
  const isBare = body['type'] === 'object' && !('properties' in body) && !('additionalProperties' in body);
  const converted = convert(isBare ? { ...body, properties: {} } : body, '', walk);
  if (walk.definitions.size === 0) return converted;
  return { ...converted, $defs: Object.fromEntries(walk.definitions) };
}

function convert(schema: unknown, path: string, walk: Walk): JsonSchema {
  if (!isSchema(schema) || Object.keys(schema).every((keyword) => ANNOTATIONS.includes(keyword))) {
    walk.report(path, 'any value is allowed, and strict schemas need a type');
    return {};
  }
  for (const keyword of Object.keys(schema)) {
    if (!KNOWN.has(keyword)) walk.report(path, `${keyword} has no form in a strict schema`);
  }
  if ('$ref' in schema) return convertReference(schema, path, walk);
  if (isLiteral(schema)) return convertLiteral(schema, path, walk);
  if (branchesOf(schema) !== undefined) return convertBranches(schema, path, walk);
  return convertTyped(schema, path, walk);
}

function convertReference(schema: JsonSchema, path: string, walk: Walk): JsonSchema {
  const name = definitionName(schema['$ref']);
  const target = resolveReference(schema['$ref'], walk.root);
  if (name === undefined || target === undefined) {
    walk.report(path, 'a reference must name one of the $defs');
    return {};
  }
  if (!walk.definitions.has(name)) {
    walk.definitions.set(name, undefined);
    // Named by the place that needs it: that is what the embedder can leave out.
    walk.definitions.set(name, convert(target, path, walk));
  }
  refuseBeside(schema, ['$ref'], path, walk);
  const reference = { $ref: `#/$defs/${name}` };
  // Providers drop what is next to a reference.
  const words = described(schema, []);
  return Object.keys(words).length === 0 ? reference : { anyOf: [reference], ...words };
}

function convertLiteral(schema: JsonSchema, path: string, walk: Walk): JsonSchema {
  const { enumTypes, isTypeDroppedByLiterals } = walk.dialect;
  refuseBeside(schema, ['const', 'enum', 'type'], path, walk);
  if ('const' in schema && 'enum' in schema) walk.report(path, 'const beside enum');
  const values: readonly unknown[] = 'const' in schema ? [schema['const']] : (schema['enum'] as unknown[]);
  const types = new Set(values.map(jsonTypeOf));
  const [type] = types;
  if (types.has('object') || types.has('array')) walk.report(path, 'only plain values can be listed');
  if (types.size !== 1 && enumTypes !== undefined) walk.report(path, 'values of several types are listed');
  const keepsType = !isTypeDroppedByLiterals && types.size === 1;
  const own = keepsType ? { type: schema['type'] === 'integer' ? 'integer' : type } : {};
  if (enumTypes !== undefined && !enumTypes.has(type ?? '')) {
    return { ...own, ...described(schema, [`one of ${JSON.stringify(values)}`]) };
  }
  const literal = enumTypes === undefined && 'const' in schema ? { const: schema['const'] } : { enum: [...values] };
  return { ...own, ...literal, ...described(schema, []) };
}

function convertBranches(schema: JsonSchema, path: string, walk: Walk): JsonSchema {
  const { root, dialect } = walk;
  const keyword = 'anyOf' in schema ? 'anyOf' : 'oneOf';
  if (keyword in schema) refuseBeside(schema, [keyword], path, walk);
  const branches = branchesOf(schema) ?? [];
  const mapType = dialect.hasOpenMaps ? 'object' : 'array';
  const types = branches.map((branch) => acceptedTypes(branch, root, mapType));
  const isMixedUp = branches.some(
    (branch, index) =>
      needsRestoring(branch, root, dialect) &&
      types.some((other, at) => at !== index && !other.isDisjointFrom(types[index] ?? new Set())),
  );
  if (isMixedUp) walk.report(path, 'alternatives could not be distinguished on the way back');
  return {
    anyOf: branches.map((branch, index) => convert(branch, `${path}/${keyword}/${index}`, walk)),
    ...described(schema, []),
  };
}

function convertTyped(schema: JsonSchema, path: string, walk: Walk): JsonSchema {
  const { type } = schema;
  if (typeof type !== 'string' || !Object.hasOwn(LIMITS, type)) {
    walk.report(path, 'no type is given');
    return {};
  }
  if (type === 'object') return convertObject(schema, path, walk);
  const { kept, moved } = limitsOf(schema, type, walk.dialect);
  const items = type === 'array' ? { items: convert(schema['items'], `${path}/items`, walk) } : {};
  return { type, ...items, ...kept, ...described(schema, moved) };
}

function convertObject(schema: JsonSchema, path: string, walk: Walk): JsonSchema {
  if (isOpenMap(schema)) return convertMap(schema, path, walk);
  const { isAllRequired } = walk.dialect;
  const extra = schema['additionalProperties'];
  if (extra !== undefined && extra !== false) walk.report(path, 'declared and free names in one object');
  if (extra === undefined && !('properties' in schema)) walk.report(path, 'the object is open and declares no names');
  if ('propertyNames' in schema) walk.report(path, 'propertyNames beside declared names');
  const properties = propertiesOf(schema);
  const required = requiredOf(schema);
  for (const name of required) {
    if (!Object.hasOwn(properties, name)) walk.report(path, `required but not declared: ${name}`);
  }
  const converted = Object.entries(properties).map(([name, property]) => {
    const place = `${path}/properties/${pointerName(name)}`;
    const isOptional = isAllRequired && !required.has(name);
    return [name, isOptional ? convertOptional(property, place, walk) : convert(property, place, walk)];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(converted),
    required: isAllRequired ? Object.keys(properties) : [...required],
    additionalProperties: false,
    ...described(schema, limitsOf(schema, 'object', walk.dialect).moved),
  };
}

/** Null means "left out", so it must not have another meaning. */
function convertOptional(property: unknown, path: string, walk: Walk): JsonSchema {
  const converted = convert(property, path, walk);
  if (acceptedTypes(property, walk.root).has('null')) {
    const isDefault = isSchema(property) && property['default'] === null;
    if (!isDefault) walk.report(path, 'null has a meaning of its own and cannot mean "left out"');
    return converted;
  }
  const { description, ...rest } = converted;
  const words = description === undefined ? 'null: left out' : `${String(description)}; null: left out`;
  return { anyOf: [rest, { type: 'null' }], description: words };
}

function convertMap(schema: JsonSchema, path: string, walk: Walk): JsonSchema {
  const { additionalProperties: values, propertyNames: names = { type: 'string' } } = schema;
  const { moved } = limitsOf(schema, 'object', walk.dialect);
  if (walk.dialect.hasOpenMaps)
    return { ...openMap(values, path, walk), ...described(schema, nameNotes(names, moved)) };
  const properties = {
    name: convert({ type: 'string', ...(isSchema(names) ? names : {}) }, `${path}/propertyNames`, walk),
    value: convert(values, `${path}/additionalProperties`, walk),
  };
  return {
    type: 'array',
    items: { type: 'object', properties, required: ['name', 'value'], additionalProperties: false },
    ...described(schema, ['as a list of names and values, every name once', ...moved]),
  };
}

function openMap(values: unknown, path: string, walk: Walk): JsonSchema {
  return {
    type: 'object',
    additionalProperties: values === true ? true : convert(values, `${path}/additionalProperties`, walk),
  };
}

function nameNotes(names: unknown, moved: readonly string[]): readonly string[] {
  const isPlain = isSchema(names) && Object.keys(names).length === 1 && names['type'] === 'string';
  return isPlain ? moved : [`names: ${JSON.stringify(names)}`, ...moved];
}

function refuseBeside(schema: JsonSchema, allowed: readonly string[], path: string, walk: Walk): void {
  for (const keyword of Object.keys(schema)) {
    if (allowed.includes(keyword) || ANNOTATIONS.includes(keyword) || WORDS.includes(keyword)) continue;
    if (KNOWN.has(keyword)) walk.report(path, `${keyword} beside ${allowed[0]}`);
  }
}

function pointerName(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Whether values of a schema look different once it is strict, so that they must be turned back. */
function needsRestoring(
  schema: unknown,
  root: JsonSchema,
  dialect: StrictDialect,
  seen: ReadonlySet<unknown> = new Set(),
): boolean {
  if (!isSchema(schema) || seen.has(schema)) return false;
  const met = new Set([...seen, schema]);
  const inner = (part: unknown) => needsRestoring(part, root, dialect, met);
  if ('$ref' in schema) return inner(resolveReference(schema['$ref'], root));
  const branches = branchesOf(schema);
  if (branches !== undefined) return branches.some(inner);
  if (isOpenMap(schema)) return !dialect.hasOpenMaps || inner(schema['additionalProperties']);
  const properties = propertiesOf(schema);
  const hasNulls = dialect.isAllRequired && requiredOf(schema).size < Object.keys(properties).length;
  return hasNulls || Object.values(properties).some(inner) || inner(schema['items']);
}
