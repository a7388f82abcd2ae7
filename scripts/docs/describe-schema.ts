/** JSON Schema in a few words, for one table cell: `integer ≥ 1`, `"a" | "b"`, `{ path, line }[]`. */

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly description?: string;
}

export function describeSchema(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(describeSchema))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => describeSchema({ ...schema, type })).join(' | ');
  if (schema.type === 'array') return `${grouped(describeSchema(schema.items ?? {}))}[]`;
  if (schema.type === 'object') return describeObject(schema);
  return `${schema.type ?? 'any'}${bounds(schema)}`;
}

function describeObject(schema: JsonSchema): string {
  const keys = Object.keys(schema.properties ?? {});
  if (keys.length > 0) return `{ ${keys.map((key) => (isRequired(schema, key) ? key : `${key}?`)).join(', ')} }`;
  const values = schema.additionalProperties;
  return typeof values === 'object' && Object.keys(values).length > 0 ? `{ …: ${describeSchema(values)} }` : 'object';
}

export function isRequired(schema: JsonSchema, key: string): boolean {
  return schema.required?.includes(key) ?? false;
}

function bounds(schema: JsonSchema): string {
  const parts: string[] = [];
  const least = schema.exclusiveMinimum === undefined ? schema.minimum : undefined;
  if (least !== undefined && least !== Number.MIN_SAFE_INTEGER) parts.push(`≥ ${least}`);
  if (schema.exclusiveMinimum !== undefined) parts.push(`> ${schema.exclusiveMinimum}`);
  if (schema.maximum !== undefined && schema.maximum !== Number.MAX_SAFE_INTEGER) parts.push(`≤ ${schema.maximum}`);
  if (schema.minLength !== undefined && schema.minLength > 0) parts.push('not empty');
  if (schema.maxLength !== undefined) parts.push(`at most ${schema.maxLength} characters`);
  return parts.length === 0 ? '' : ` ${parts.join(', ')}`;
}

function grouped(text: string): string {
  return text.includes(' | ') || / [≥≤>]/.test(text) ? `(${text})` : text;
}
