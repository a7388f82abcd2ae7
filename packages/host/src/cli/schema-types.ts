/** Which JSON types a tool's JSON Schema lets an argument have. */

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
