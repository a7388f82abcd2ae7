/**
 * Checks values against a foreign schema without ever compiling code from it.
 *
 * The validator sees a copy with the keywords it may act on. Left out are those whose cost the schema's author decides
 * (patterns, uniqueness); the server judges them itself. The work left is counted: every visit reads `type`, which is
 * a getter that spends from a budget, so that references which multiply end in a refusal and not in a stuck host.
 */
import { type OutputUnit, type Schema, validate } from '@cfworker/json-schema';
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';

export interface SchemaIssue {
  readonly path: readonly string[];
  readonly message: string;
}

export type SchemaCheck = (value: JsonValue) => readonly SchemaIssue[];

const MAX_VISITS = 50_000;
const MAX_ISSUES = 8;
const MAX_MESSAGE = 300;
const AROUND = /^(?:A subschema had errors|Property ".*" does not match|Items did not match)/s;

const SCHEMAS = new Set([
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'items', 'additionalItems'],
  ...['unevaluatedItems', 'contains', 'not', 'if', 'then', 'else'],
]);
const LISTS = new Set(['prefixItems', 'items', 'allOf', 'anyOf', 'oneOf']);
const MAPS = new Set(['$defs', 'definitions', 'properties', 'dependentSchemas']);
const VALUES = new Set([
  ...['const', 'enum', 'required', 'dependentRequired', 'maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'],
  ...['multipleOf', 'maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'],
  ...['minContains', 'maxContains', '$anchor', '$ref'],
]);

class TooMuchWork extends RangeError {}

interface Meter {
  left: number;
  /** What patterns would have admitted is not known, so nothing may be refused for being left over. */
  readonly ignoresRest: boolean;
}

/** The schema has passed `schemaProblem`. */
export function checkSchema(schema: JsonObject): SchemaCheck {
  const meter: Meter = { left: 0, ignoresRest: JSON.stringify(schema).includes('"patternProperties"') };
  const copy = copySchema(schema, meter) as Schema;
  return (value) => {
    meter.left = MAX_VISITS;
    try {
      const { valid, errors } = validate(value, copy, '2020-12');
      return valid ? [] : issuesOf(errors);
    } catch {
      // Spent, or a reference that leads nowhere or in a circle: what cannot be checked is not let through.
      return [{ path: [], message: 'cannot be checked against the schema of the server' }];
    }
  };
}

function copySchema(schema: JsonValue, meter: Meter): JsonValue {
  if (!isJsonObject(schema)) return schema !== false;
  const copy: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(schema)) {
    const kept = copyKeyword(key, value, meter);
    if (kept !== undefined) copy[key] = kept;
  }
  const { type = undefined } = schema;
  Object.defineProperty(copy, 'type', {
    enumerable: true,
    get() {
      meter.left -= 1;
      if (meter.left < 0) throw new TooMuchWork();
      return type;
    },
  });
  return copy;
}

function copyKeyword(key: string, value: JsonValue, meter: Meter): JsonValue | undefined {
  if (VALUES.has(key)) return value;
  if (LISTS.has(key) && Array.isArray(value)) return value.map((item: JsonValue) => copySchema(item, meter));
  if (MAPS.has(key) && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copySchema(item, meter)]));
  }
  if (!SCHEMAS.has(key) || (meter.ignoresRest && /^(?:additional|unevaluated)Properties$/.test(key))) return undefined;
  return copySchema(value, meter);
}

/** The innermost complaints say what is wrong; the ones around them only where it was found. */
function issuesOf(errors: readonly OutputUnit[]): readonly SchemaIssue[] {
  const told = errors.filter(({ error }) => !AROUND.test(error));
  return (told.length === 0 ? errors : told).slice(0, MAX_ISSUES).map(({ keyword, instanceLocation, error }) => ({
    path: pathOf(instanceLocation),
    message: keyword === 'false' ? 'is not allowed here' : error.slice(0, MAX_MESSAGE),
  }));
}

function pathOf(location: string): readonly string[] {
  const parts = location.replace(/^#\/?/, '').split('/');
  return parts.filter((part) => part !== '').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
