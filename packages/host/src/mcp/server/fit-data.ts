/** Data cut to a number of bytes and still data: long lists and texts lose their ends, and the result fits the same schema. */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';

export interface FittedData {
  /** Undefined where nothing that is left could be cut. */
  readonly data: JsonObject | undefined;
  readonly isCut: boolean;
}

/** Shorter texts are names and digests, which mean something only when they are whole. */
const LEAST_CHARACTERS = 1000;
/** `-1.2345678901234567e-300` */
const LONGEST_NUMBER = 25;

export function fitData(data: JsonObject, maxBytes: number): FittedData {
  if (fits(data, maxBytes)) return { data, isCut: false };
  let characters = Math.floor(maxBytes / 2);
  for (let items = Math.floor(maxBytes / 8); items >= 1; items = Math.floor(items / 2)) {
    const cut = shorten(data, characters, items) as JsonObject;
    if (fits(cut, maxBytes)) return { data: marked(cut), isCut: true };
    characters = Math.max(LEAST_CHARACTERS, Math.floor(characters / 2));
  }
  return { data: undefined, isCut: true };
}

function fits(data: JsonObject, maxBytes: number): boolean {
  if (mostBytes(data) <= maxBytes) return true;
  return textLength(data) <= maxBytes && Buffer.byteLength(JSON.stringify(data)) <= maxBytes;
}

/**
 * Characters that take six bytes as JSON; any other takes at most twice its bytes. One pattern for each group that differs
 * in its last bits alone: V8 looks for such a group in many characters at once, for all of them in one after the other.
 */
const LONG_ESCAPES = [/[\0-\x07]/, /\x0b/, /[\x0e\x0f]/, /[\x10-\x1f]/];

/** At least what it takes as JSON, found without writing it out: most of what fits, fits by far. */
function mostBytes(value: JsonValue | undefined): number {
  if (typeof value === 'string')
    return 2 + Buffer.byteLength(value) * (LONG_ESCAPES.some((group) => group.test(value)) ? 6 : 2);
  if (typeof value !== 'object' || value === null) return LONGEST_NUMBER;
  let bytes = 2;
  for (const [key, inner] of Object.entries(value)) bytes += mostBytes(key) + mostBytes(inner) + 2;
  return bytes;
}

/** Less than what it takes as JSON, found without writing it out: that takes longest for what is too long. */
function textLength(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let length = 0;
  for (const inner of Object.values(value)) length += textLength(inner as JsonValue);
  return length;
}

function shorten(value: JsonValue, characters: number, items: number): JsonValue {
  if (typeof value === 'string') return value.length <= characters ? value : value.slice(0, characters).toWellFormed();
  if (Array.isArray(value)) return value.slice(0, items).map((item: JsonValue) => shorten(item, characters, items));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, shorten(inner as JsonValue, characters, items)]);
  return Object.fromEntries(entries) as JsonObject;
}

/** Tools that can cut their own answer have a word for it. */
function marked(data: JsonObject): JsonObject {
  return typeof data['truncated'] === 'boolean' ? { ...data, truncated: true } : data;
}
