/** Configuration files of the TypeScript world: JSON with comments and trailing commas. Broken text gives undefined. */

/** A string stays as it is; a comment, or a comma before a closing bracket, goes. */
const NOISE = /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*[}\]])/g;

export function parseJsonc(bytes: Uint8Array | undefined): JsonRecord | undefined {
  if (bytes === undefined) return undefined;
  const text = new TextDecoder().decode(bytes).replace(NOISE, '$1');
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // A file that is being written, or no JSON at all: as if it were not there.
    return undefined;
  }
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
