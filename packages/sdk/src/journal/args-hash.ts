/**
 * The digest that stands for a call's arguments in every record.
 *
 * Keyed, because arguments are often guessable: a plain hash of `{"path":"…"}` would give the path away to anyone who
 * tries a list. The tool is part of it, so that a key reused for another tool with equal arguments is a conflict.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import { canonicalArgs } from './canonical-args.ts';
import { createKeyedDigest } from './keyed-digest.ts';

export type ArgsHasher = (tool: string, args: JsonObject) => string;

/** `hmac-sha256:` + hex over the canonical JSON of `[tool, args]`. Throws TypeError for what JSON cannot hold. */
export function createArgsHasher(masterKey: Uint8Array): ArgsHasher {
  const digest = createKeyedDigest(masterKey, 'tool-runtime args v1');
  return (tool, args) => `hmac-sha256:${digest(canonicalArgs([tool, args]))}`;
}
