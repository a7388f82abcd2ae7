/** One canonical form (RFC 8785) and one hash (SHA-256) for everything that is fingerprinted, chained or compared. */
import { hash } from 'node:crypto';
import type { JsonValue } from '@tool-runtime/protocol';
import canonicalize from 'canonicalize';

/** Equal values give equal text whatever their key order. Throws TypeError for what JSON cannot hold. */
export function canonicalJson(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('Value has no JSON form');
  return text;
}

/** Lower-case hex, no prefix. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** `sha256:` + hex: the form of every digest but `file_read.sha256`. */
export function digest(data: string | Uint8Array): string {
  return `sha256:${sha256Hex(data)}`;
}
