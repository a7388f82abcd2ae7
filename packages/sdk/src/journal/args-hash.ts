/**
 * The digest that stands for a call's arguments in every record.
 *
 * Keyed, because arguments are often guessable: a plain hash of `{"path":"…"}` would give the path away to anyone who
 * tries a list. The tool is part of it, so that a key reused for another tool with equal arguments is a conflict.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { createKeyedDigest } from './keyed-digest.ts';

type ArgsHasher = (tool: string, args: JsonObject) => string;

/** `hmac-sha256:` + hex over the canonical JSON of `[tool, args]`. Throws TypeError for what JSON cannot hold. */
export function createArgsHasher(masterKey: Uint8Array): ArgsHasher {
  const digest = createKeyedDigest(masterKey, 'tool-runtime args v1');
  return (tool, args) => `hmac-sha256:${digest(canonicalArgs([tool, args]))}`;
}

/**
 * Canonical JSON (RFC 8785) of parsed arguments, faster on small objects than the library. Takes plain JSON only: no
 * cycles, no `toJSON`. Gives the same text as `canonicalJson` and refuses the same values. Throws TypeError for what
 * JSON cannot hold: NaN, infinities, lone surrogates, undefined elements.
 */
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
