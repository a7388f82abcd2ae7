/** Takes handed-over values out of a tool's own result, however they are spelled in its JSON. */
import type { JsonValue } from '@tool-runtime/protocol';
import type { KnownSecrets } from '../../contracts/redaction.ts';

/** Undefined when there is nothing to take out. */
export function scrubResult(bytes: Uint8Array, secrets: KnownSecrets): string | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  const plain = secrets.text(text);
  return escaped(plain, secrets) ?? (plain === text ? undefined : plain);
}

/** Escapes can hide a value from the text; they cannot hide it from a reader. */
function escaped(text: string, secrets: KnownSecrets): string | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    const clean = secrets.json(value);
    return clean === value ? undefined : JSON.stringify(clean, null, 2);
  } catch {
    // No JSON: it will be refused as a result, and what is kept of it has been cleaned as text.
    return undefined;
  }
}
