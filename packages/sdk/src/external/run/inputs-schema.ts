/**
 * The JSON Schema an operator writes for a tool's inputs: a small part of the language, checked word by word.
 *
 * What is not listed here is refused when the registry is loaded; a keyword that is silently skipped would be a promise
 * no program keeps. Patterns run on the linear-time engine. Work is bounded by the size of schema and value: no references.
 */
import { isJsonObject, type JsonObject, type JsonValue, utf8Length } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { patternProblem } from '../../pattern/compile-pattern.ts';

export const MAX_INPUTS_SCHEMA_BYTES = 16 * 1024;
const MAX_DEPTH = 16;

type Path = readonly (string | number)[];

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const NOTES = new Set(['$schema', '$comment', 'title', 'description', 'default', 'examples', 'deprecated']);

const isCount = (value: JsonValue): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumber = (value: JsonValue): boolean => typeof value === 'number';
const isNameList = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every((name: JsonValue) => typeof name === 'string');

/** Keywords whose value is plain; those that hold schemas are walked by themselves. */
const PLAIN: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  type: (value) => (Array.isArray(value) ? value : [value]).every((name) => TYPES.includes(name as string)),
  enum: (value) => Array.isArray(value) && value.length > 0,
  const: () => true,
  required: isNameList,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => typeof value === 'number' && value > 0,
  pattern: (value) => typeof value === 'string',
};

/** What keeps a schema from being used, in words that follow its place; undefined when nothing does. */
export function inputsSchemaProblem(schema: JsonObject): string | undefined {
  if (schema['type'] !== 'object') return 'Schema of inputs is not that of an object: write type: object';
  if (utf8Length(JSON.stringify(schema)) > MAX_INPUTS_SCHEMA_BYTES) {
    return `Schema of inputs is larger than ${MAX_INPUTS_SCHEMA_BYTES} bytes`;
  }
  return problemAt(schema, [], 0);
}

function problemAt(schema: JsonValue, path: Path, depth: number): string | undefined {
  const where = path.length === 0 ? '' : ` (at ${safeText(path.join('.'), 80)})`;
  if (!isJsonObject(schema)) return `Schema of inputs holds something that is no schema${where}`;
  if (depth > MAX_DEPTH) return `Schema of inputs is nested deeper than ${MAX_DEPTH}`;
  for (const [key, value] of Object.entries(schema)) {
    const problem = keywordProblem(key, value, { path, depth, where });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

interface Spot {
  readonly path: Path;
  readonly depth: number;
  readonly where: string;
}

function keywordProblem(key: string, value: JsonValue, { path, depth, where }: Spot): string | undefined {
  if (NOTES.has(key)) return undefined;
  const inside = (name: string | number, schema: JsonValue) => problemAt(schema, [...path, key, name], depth + 1);
  if (key === 'properties' && isJsonObject(value)) {
    return firstOf(Object.entries(value), ([name, schema]) => inside(name, schema));
  }
  if (key === 'anyOf' && Array.isArray(value) && value.length > 0) {
    return firstOf(value as readonly JsonValue[], (schema, index) => inside(index, schema));
  }
  if (key === 'items') return problemAt(value, [...path, key], depth + 1);
  if (key === 'additionalProperties') {
    return typeof value === 'boolean' ? undefined : problemAt(value, [...path, key], depth + 1);
  }
  const isFit = Object.hasOwn(PLAIN, key) ? PLAIN[key] : undefined;
  if (isFit === undefined)
    return `Schema of inputs uses a keyword that is not checked here: ${safeText(key, 80)}${where}`;
  if (!isFit(value)) return `Schema of inputs has a bad value: ${key}${where}`;
  return key === 'pattern' ? patternProblem(value as string) : undefined;
}

function firstOf<T>(items: readonly T[], problemOf: (item: T, index: number) => string | undefined) {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
