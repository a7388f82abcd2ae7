/**
 * Canonical JSON (RFC 8785) of parsed arguments, without the generality that makes the library slow on small objects.
 *
 * Takes plain JSON only: no cycles, no `toJSON`. Gives the same text as `canonicalJson` and refuses the same values.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';

/** Throws TypeError for what JSON cannot hold: NaN, infinities, lone surrogates, undefined elements. */
export function canonicalArgs(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('Number has no JSON form');
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalList(value) : canonicalObject(value as JsonObject);
    default:
      throw new TypeError('Value has no JSON form');
  }
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('Text has a lone surrogate');
  return JSON.stringify(value);
}

function canonicalList(list: readonly JsonValue[]): string {
  let text = '[';
  for (const element of list) text += (text.length === 1 ? '' : ',') + canonicalArgs(element);
  return `${text}]`;
}

function canonicalObject(object: JsonObject): string {
  let text = '{';
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    // An optional argument that was not given may be present as undefined; JSON drops it.
    if (value === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${canonicalString(key)}:${canonicalArgs(value)}`;
  }
  return `${text}}`;
}
