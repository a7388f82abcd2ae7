/**
 * Whether a foreign JSON Schema is one we are willing to look at: small, flat enough, closed in itself.
 *
 * References may point inside the schema only; what would be fetched, or resolved differently on every path
 * (`$dynamicRef`), is refused. The walk is a loop, so that depth costs no stack.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';

const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_SCHEMA_DEPTH = 32;
const REFUSED_KEYWORDS = ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'];
const DRAFTS = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft\/2019-09|draft-07|draft-06)\/schema#?$/;

/** Undefined, or words that go on after "schema". */
export function schemaProblem(schema: JsonObject): string | undefined {
  if (!isJsonObject(schema)) return 'is not an object';
  if (isTooDeep(schema, MAX_SCHEMA_DEPTH)) return `is nested deeper than ${MAX_SCHEMA_DEPTH}`;
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) return `is larger than ${MAX_SCHEMA_BYTES} bytes`;
  const dialect = schema['$schema'];
  if (dialect !== undefined && (typeof dialect !== 'string' || !DRAFTS.test(dialect))) return 'has an unknown dialect';
  return keywordProblem(schema);
}

export function isTooDeep(value: JsonValue, limit: number): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

function keywordProblem(root: JsonObject): string | undefined {
  const waiting: JsonValue[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) {
      const problem = objectProblem(value as JsonObject, root);
      if (problem !== undefined) return problem;
    }
    waiting.push(...Object.values(value));
  }
  return undefined;
}

/** A property may be called like a keyword; then its value is a schema and no text. */
function objectProblem(value: JsonObject, root: JsonObject): string | undefined {
  const refused = REFUSED_KEYWORDS.find((key) => typeof value[key] === 'string' || typeof value[key] === 'boolean');
  if (refused !== undefined) return `uses ${refused}`;
  const reference = value['$ref'];
  if (typeof reference === 'string' && !reference.startsWith('#')) return 'refers to another document';
  if (value !== root && typeof value['$id'] === 'string') return 'holds a document of its own ($id)';
  return undefined;
}
