/** Canonical JSON (RFC 8785), SHA-256 and keyed digests for everything that is fingerprinted, chained or compared. */
import { createHmac, hash } from 'node:crypto';
import type { JsonValue } from '@tool-runtime/protocol';
import canonicalize from 'canonicalize';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

type KeyedDigest = (text: string) => string;

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

/**
 * HMAC-SHA256 of text under a key made for one purpose, as lower-case hex.
 *
 * Built from one-shot hashes: `createHmac` costs ten times as much for a short text. The derived key is 64 ASCII
 * characters, exactly one SHA-256 block, so both padded forms are ASCII too and can be joined to the text as strings;
 * any HMAC tool given those 64 characters as its key computes the same value.
 *
 * Two purposes never share a key, so a digest made for one cannot stand in for one made for the other.
 */
export function createKeyedDigest(masterKey: Uint8Array, purpose: string): KeyedDigest {
  const key = purposeKey(masterKey, purpose);
  const inner = padded(key, 0x36);
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
  outer.write(padded(key, 0x5c), 'binary');
  return (text) => {
    outer.write(hash('sha256', inner + text, 'binary'), BLOCK_BYTES, 'binary');
    return hash('sha256', outer, 'hex');
  };
}

/** The key text of one purpose. */
export function purposeKey(masterKey: Uint8Array, purpose: string): string {
  if (masterKey.length < DIGEST_BYTES) throw new TypeError(`Key is shorter than ${DIGEST_BYTES} bytes`);
  return createHmac('sha256', masterKey).update(purpose).digest('hex');
}

function padded(key: string, pad: number): string {
  return String.fromCharCode(...Array.from(key, (character) => character.charCodeAt(0) ^ pad));
}
