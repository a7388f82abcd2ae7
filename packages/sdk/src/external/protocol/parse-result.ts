/**
 * Bytes of a tool's JSON to an object, refusing what two readers could understand differently.
 *
 * Beyond the protocol's own rules (size, doubled keys, trailing data) text must be well-formed Unicode, written or
 * escaped: a half character has no canonical form to hash. Unknown fields are kept.
 */
import { type JsonObject, type JsonValue, scanJson, ToolError } from '@tool-runtime/protocol';
import { EXTERNAL_LIMITS } from './protocol-constants.ts';

const MAX_DEPTH = 256;
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** Throws E_VALIDATION_FAIL with `details.reason`. */
export function parseResult(bytes: Uint8Array, maxBytes: number = EXTERNAL_LIMITS.resultBytes): JsonObject {
  if (bytes.length > maxBytes) throw refusal(`JSON text is larger than the limit: ${maxBytes} bytes`, 'too_large');
  const text = decode(bytes);
  scanJson(text, { maxBytes, maxDepth: MAX_DEPTH });
  const value = JSON.parse(text) as JsonValue;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal('JSON text is no object', 'not_an_object');
  }
  if (SURROGATE_ESCAPE.test(text) && !isWellFormed(value)) {
    throw refusal('JSON text holds half a character', 'invalid_unicode');
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
