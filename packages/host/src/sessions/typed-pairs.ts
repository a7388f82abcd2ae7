/** Arguments as people type them, key=value: which values are text and which are JSON. */

/** Text stays text where the tool takes text; elsewhere what reads as JSON is JSON. */
export function typePairs(
  pairs: Readonly<Record<string, string>>,
  schema: object | undefined,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(pairs).map(([key, text]) => [key, parseValue(text, acceptedTypes(schema, key))]),
  );
}

function parseValue(text: string, types: ReadonlySet<string>): unknown {
  const isTextOnly = types.has('string') && [...types].every((type) => type === 'string' || type === 'null');
  if (isTextOnly) return text === 'null' && types.has('null') ? null : text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface Property {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
}

/** Empty when the schema does not know the argument or does not say. */
export function acceptedTypes(schema: object | undefined, key: string): ReadonlySet<string> {
  const properties = (schema as { properties?: Record<string, Property> } | undefined)?.properties;
  const property = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
  return new Set(property === undefined ? [] : typesOf(property));
}

function typesOf(property: Property): readonly string[] {
  const branches = property.anyOf ?? property.oneOf;
  if (branches !== undefined) return branches.flatMap(typesOf);
  if (property.type !== undefined) return [property.type].flat();
  if (property.enum !== undefined) return property.enum.map(typeOf);
  return 'const' in property ? [typeOf(property.const)] : [];
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
