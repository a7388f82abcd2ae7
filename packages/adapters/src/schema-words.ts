/** What a strict schema keeps of the limits on values, and the words for what it cannot keep. */
import type { JsonSchema } from './list-tools.ts';
import type { StrictDialect } from './strict-dialects.ts';

export const ANNOTATIONS = [
  'title',
  'description',
  'default',
  'examples',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
];
export const WORDS = ['default', 'examples', 'deprecated', 'contentEncoding', 'contentMediaType'];
export const LIMITS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['minItems', 'maxItems', 'uniqueItems'],
  object: ['minProperties', 'maxProperties'],
  boolean: [],
  null: [],
};
export function limitsOf(schema: JsonSchema, type: string, dialect: StrictDialect) {
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
export function described(schema: JsonSchema, notes: readonly string[]): JsonSchema {
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
