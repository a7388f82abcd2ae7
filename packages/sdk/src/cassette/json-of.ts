import type { JsonValue } from '@tool-runtime/protocol';

/** Arguments as they would travel. What has no JSON form is refused by the call itself. */
export function jsonOf(args: unknown): JsonValue {
  try {
    return (JSON.parse(JSON.stringify(args) ?? 'null') as JsonValue) ?? null;
  } catch {
    return null;
  }
}
