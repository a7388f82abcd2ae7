/**
 * A JSON object read by a table of fields: types checked, missing ones given their zero value, unknown ones kept.
 *
 * A name that differs from a known one only in case is refused: readers that ignore case would take it for the field.
 */
import { type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { FieldRule, Shape } from './result-shape.ts';

/** Throws E_VALIDATION_FAIL with `details.field`. Never changes `value`. */
export function readShape(value: JsonObject, shape: Shape, path = ''): JsonObject {
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
