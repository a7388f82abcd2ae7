/** Keeps the values a tool was handed out of everything that is said about its run. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { REDACTED } from '../journal/redact.ts';

/** Shorter ones are words of ordinary text: hiding them would hide the text. */
const SHORTEST = 4;
const SHORTEST_LINE = 16;

export class SecretValues {
  /** Longest first, so that one that contains another is hidden whole. */
  readonly values: readonly string[];

  constructor(environment: Readonly<Record<string, string>>) {
    const whole = Object.values(environment).filter((value) => value.length >= SHORTEST);
    // Of a key in several lines each is telling enough.
    const lines = whole.flatMap((value) => value.split(/\r?\n/)).filter((line) => line.length >= SHORTEST_LINE);
    this.values = [...new Set([...whole, ...lines])].sort((left, right) => right.length - left.length);
  }

  hide(text: string): string {
    return this.values.reduce((hidden, value) => hidden.replaceAll(value, REDACTED), text);
  }

  /** The same value when nothing was found. */
  hideJson<T extends JsonValue>(value: T): T {
    return this.values.length === 0 ? value : (this.#inside(value) as T);
  }

  #inside(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.hide(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const list = (value as readonly JsonValue[]).map((item) => this.#inside(item));
      return list.every((item, at) => item === value[at]) ? value : list;
    }
    const entries = Object.entries(value as JsonObject);
    const hidden = entries.map(([key, inner]): [string, JsonValue] => [this.hide(key), this.#inside(inner)]);
    return hidden.every(([key, inner], at) => key === entries[at]?.[0] && inner === entries[at]?.[1])
      ? value
      : Object.fromEntries(hidden);
  }
}
