/** Values of JSON as tools see them. Of its own, because the kit imports nothing. */
export type Json = string | number | boolean | null | readonly Json[] | JsonRecord;

export interface JsonRecord {
  readonly [key: string]: Json;
}

/** Undefined unless the text is one JSON object. */
export function parseRecord(text: string): JsonRecord | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    // Whoever asked says what the text was meant to be.
    return undefined;
  }
}
