/**
 * Reads what an external tool wrote: bytes to a JSON object, and that object to a result whose required fields are there
 * and whose known fields have their types.
 */
import { type JsonObject, type JsonValue, scanJson, ToolError } from '@tool-runtime/protocol';
import { RUN_STATUSES, type RunResult } from '../../contracts/external.ts';
import { parseTimestamp } from './digests.ts';
import { EXTERNAL_LIMITS } from './protocol-constants.ts';

/**
 * A copy with unknown fields kept and absent ones filled in as the shape below says. Throws E_VALIDATION_FAIL; a required field
 * that is absent, null or blank has `details.reason` `missing_required_field` and `details.field`.
 */
export function validateResult(value: unknown): RunResult & JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('Result is not a JSON object', 'result', 'not_an_object');
  }
  const result = readShape(value as JsonObject, RESULT_SHAPE) as unknown as RunResult & JsonObject;
  for (const field of REQUIRED_FIELDS) {
    if (isBlank(fieldAt(result, field))) throw invalid('Required field is missing', field, 'missing_required_field');
  }
  checkTime(result.started_at, 'started_at');
  checkTime(result.completed_at, 'completed_at');
  if (!RUN_STATUSES.includes(result.status))
    throw invalid('Status is not success, partial or failure', 'status', 'invalid_status');
  return result;
}

function fieldAt(result: JsonObject, field: string): JsonValue | undefined {
  return field.split('.').reduce<JsonValue | undefined>((value, name) => (value as JsonObject)[name], result);
}

function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || value === 0;
}

function checkTime(text: string, field: string): void {
  try {
    parseTimestamp(text);
  } catch (thrown) {
    throw invalid('Timestamp is not valid', field, 'invalid_timestamp', thrown);
  }
}

function invalid(problem: string, field: string, reason: string, cause?: unknown): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `${problem}: ${field}`, {
    path: field,
    details: { reason, field },
    ...(cause === undefined ? {} : { cause }),
  });
}

const MAX_DEPTH = 256;
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/**
 * Bytes of JSON to an object, refusing what two readers could understand differently: size, duplicate keys and
 * trailing data also broken Unicode, written or escaped, because it has no canonical form to hash. Unknown fields are
 * kept. Throws E_VALIDATION_FAIL with `details.reason`.
 */
export function parseResult(bytes: Uint8Array, maxBytes: number = EXTERNAL_LIMITS.resultBytes): JsonObject {
  if (bytes.length > maxBytes) throw refusal(`JSON text is larger than the limit: ${maxBytes} bytes`, 'too_large');
  const text = decode(bytes);
  scanJson(text, { maxBytes, maxDepth: MAX_DEPTH });
  const value = JSON.parse(text) as JsonValue;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal('JSON text is not an object', 'not_an_object');
  }
  if (SURROGATE_ESCAPE.test(text) && !isWellFormed(value)) {
    throw refusal('JSON text contains half of a surrogate pair', 'invalid_unicode');
  }
  return value as JsonObject;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (thrown) {
    throw refusal('JSON text is not UTF-8', 'invalid_unicode', thrown);
  }
}

function refusal(message: string, reason: string, cause?: unknown): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, {
    details: { reason },
    ...(cause === undefined ? {} : { cause }),
  });
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}

/**
 * Reads an object by a table of fields: types checked, missing fields given their zero value, unknown ones kept. A name
 * that differs from a known one only in case is refused, because readers that ignore case would take it for the field.
 * Throws E_VALIDATION_FAIL with `details.field`. Never changes `value`.
 */
function readShape(value: JsonObject, shape: Shape, path = ''): JsonObject {
  const read: Record<string, JsonValue> = { ...value };
  for (const name of Object.keys(value)) if (!Object.hasOwn(shape, name)) refuseLookalike(name, shape, path);
  for (const [name, rule] of Object.entries(shape)) {
    const found = Object.hasOwn(value, name) ? (value[name] ?? null) : null;
    if (found !== null) read[name] = readField(found, rule, path + name);
    else if (rule.zero !== undefined) read[name] = zeroOf(rule, path + name);
    else delete read[name];
  }
  return read;
}

function zeroOf(rule: FieldRule, path: string): JsonValue {
  const zero = rule.zero ?? null;
  return rule.fields === undefined ? zero : readShape(zero as JsonObject, rule.fields, `${path}.`);
}

function readField(value: JsonValue, rule: FieldRule, path: string): JsonValue {
  if (!hasType(value, rule)) throw wrongType(path, rule.type);
  if (rule.fields === undefined) return value;
  const { fields } = rule;
  if (rule.type === 'object') return readShape(value as JsonObject, fields, `${path}.`);
  return (value as readonly JsonValue[]).map((item, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(item)) throw wrongType(at, 'object');
    return readShape(item, fields, `${at}.`);
  });
}

function hasType(value: JsonValue, { type }: FieldRule): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'object':
      return isObject(value);
    case 'list':
      return Array.isArray(value);
    case 'any':
      return true;
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrongType(field: string, type: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Field has another type than ${type}: ${field}`, {
    path: field,
    details: { reason: 'wrong_type', field },
  });
}

function refuseLookalike(name: string, shape: Shape, path: string): void {
  // Both ways, because some letters beyond ASCII (long s, Kelvin sign) fold to an ASCII one in one direction only.
  const folded = name.toUpperCase().toLowerCase();
  if (!Object.hasOwn(shape, folded)) return;
  throw new ToolError('E_VALIDATION_FAIL', `Field differs from a known one only in case: ${path}${folded}`, {
    path: `${path}${folded}`,
    details: { reason: 'ambiguous_field', field: `${path}${folded}` },
  });
}

/**
 * The fields of a result and their types, as data.
 *
 * A field that is missing or null counts as its zero value when the protocol always writes it, and as absent when it
 * is optional: so a reader in a language with zero values sees the same as this one.
 */
export interface FieldRule {
  readonly type: 'text' | 'integer' | 'boolean' | 'object' | 'list' | 'any';
  /** What a missing or null field becomes; left out for optional fields. */
  readonly zero?: JsonValue;
  /** Written even when it is empty, and missing when it is not there. */
  readonly always?: true;
  /** The fields of an object, or of every object in a list. */
  readonly fields?: Shape;
}

export type Shape = Readonly<Record<string, FieldRule>>;

const TEXT: FieldRule = { type: 'text', zero: '' };
const INTEGER: FieldRule = { type: 'integer', zero: 0 };
const OPTIONAL_TEXT: FieldRule = { type: 'text' };
const NULLABLE_TEXT: FieldRule = { type: 'text', zero: null };

const ENTRY: Shape = { code: TEXT, message: TEXT, path: OPTIONAL_TEXT, details: { type: 'any' } };

function optionalTexts(...names: readonly string[]): FieldRule {
  return { type: 'object', fields: Object.fromEntries(names.map((name) => [name, OPTIONAL_TEXT])) };
}

export const RESULT_SHAPE: Shape = {
  schema_version: INTEGER,
  wrapper: { type: 'object', zero: {}, fields: { name: TEXT, version: TEXT } },
  tool: { type: 'object', zero: {}, fields: { name: TEXT, version: TEXT, protocol_version: INTEGER } },
  run_id: TEXT,
  pack_path: OPTIONAL_TEXT,
  pack_digest: OPTIONAL_TEXT,
  started_at: TEXT,
  completed_at: TEXT,
  duration_ms: INTEGER,
  exit_code: INTEGER,
  tool_exit_code: { type: 'integer', zero: null },
  status: TEXT,
  inputs: { type: 'object', always: true, fields: {} },
  outputs: {
    type: 'list',
    always: true,
    fields: { path: TEXT, media_type: TEXT, digest: OPTIONAL_TEXT, bytes: { type: 'integer' } },
  },
  errors: { type: 'list', always: true, fields: ENTRY },
  warnings: { type: 'list', always: true, fields: ENTRY },
  sync: {
    type: 'object',
    fields: { ledger_id: NULLABLE_TEXT, synced_at: NULLABLE_TEXT, workspace: OPTIONAL_TEXT },
  },
  identity: optionalTexts('workspace', 'actor', 'actor_type', 'auth_mode'),
  run_context: {
    type: 'object',
    fields: {
      ci: { type: 'boolean' },
      ci_provider: OPTIONAL_TEXT,
      repo: OPTIONAL_TEXT,
      commit: OPTIONAL_TEXT,
      branch: OPTIONAL_TEXT,
      runner_os: OPTIONAL_TEXT,
      runner_arch: OPTIONAL_TEXT,
    },
  },
  run_digest: OPTIONAL_TEXT,
  signing: optionalTexts('issuer', 'subject', 'source_repository_uri', 'source_repository_ref'),
  resolved_from: optionalTexts('registry', 'descriptor'),
};

/** Fields that must be there and not blank, in the order they are asked for. */
export const REQUIRED_FIELDS = [
  'schema_version',
  'wrapper.name',
  'tool.name',
  'run_id',
  'started_at',
  'completed_at',
  'status',
  'inputs',
  'outputs',
  'errors',
  'warnings',
] as const;
