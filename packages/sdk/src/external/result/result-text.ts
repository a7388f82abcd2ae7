/** The text of `result.json`: known fields in the protocol's order, then unknown ones; optional ones only when filled. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { RunResult } from '../../contracts/external.ts';
import { type FieldRule, RESULT_SHAPE, type Shape } from '../protocol/result-shape.ts';

/** Indented JSON with a newline at the end. */
export function resultText(result: RunResult | (RunResult & JsonObject)): string {
  return `${JSON.stringify(ordered(result as unknown as JsonObject, RESULT_SHAPE), null, 2)}\n`;
}

function ordered(value: JsonObject, shape: Shape): JsonObject {
  const entries: [string, JsonValue][] = [];
  for (const [name, rule] of Object.entries(shape)) {
    const found = value[name];
    if (found === undefined) continue;
    const shown = rule.fields === undefined || found === null ? found : orderedInside(found, rule.fields);
    if (!isLeftOut(shown, rule)) entries.push([name, shown]);
  }
  for (const [name, found] of Object.entries(value)) if (!Object.hasOwn(shape, name)) entries.push([name, found]);
  return Object.fromEntries(entries);
}

function orderedInside(value: JsonValue, shape: Shape): JsonValue {
  if (Array.isArray(value)) return value.map((item) => ordered(item as JsonObject, shape));
  return ordered(value as JsonObject, shape);
}

/** What the protocol leaves out: blank text, zero, false, null and objects with nothing in them. */
function isLeftOut(value: JsonValue, { type, zero, always }: FieldRule): boolean {
  if (always === true || zero !== undefined) return false;
  // Details may be any value, and only null is none.
  if (type === 'any') return value === null;
  if (value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
