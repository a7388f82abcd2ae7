/** Manifests come with the repository and may hold anything: what is not as expected counts as absent. */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';

export function parseObject(text: string | undefined): JsonObject {
  try {
    const value = JSON.parse((text ?? '').replace(/^\ufeff/, '')) as JsonValue;
    return isJsonObject(value) ? value : {};
  } catch {
    // A manifest that does not parse is the build's problem; here it only says nothing.
    return {};
  }
}

export function objectAt(value: JsonObject, key: string): JsonObject {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return isJsonObject(found) ? found : {};
}

export function textAt(value: JsonObject, key: string): string | undefined {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}
