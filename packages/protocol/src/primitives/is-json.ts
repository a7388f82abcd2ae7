/**
 * Whether a value is JSON: for hosts that receive objects (an in-process client, a web framework that parsed the body),
 * where `undefined`, dates, cycles and an own `__proto__` can turn up. A parsed text is JSON by construction.
 */
import type { JsonObject, JsonValue } from './errors.ts';

/** Deeper than any text scan lets through by default; ends the walk through a cycle. */
const MAX_DEPTH = 512;

export function isJsonValue(value: unknown): value is JsonValue {
  return isJson(value, MAX_DEPTH);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && isJson(value, MAX_DEPTH);
}

function isJson(value: unknown, depthLeft: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || (depthLeft > 0 && isJsonContainer(value, depthLeft - 1));
    default:
      return false;
  }
}

function isJsonContainer(value: object, depthLeft: number): boolean {
  if (Array.isArray(value)) {
    for (const item of value) if (!isJson(item, depthLeft)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  // The second look-up instead of a comparison with Object.prototype: objects from another realm are plain too.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false;
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || !isJson((value as Record<string, unknown>)[key], depthLeft)) return false;
  }
  return true;
}
