/**
 * Anything at all, made fit for a log: plain JSON, bounded, without secrets.
 *
 * Text is cleaned before it is cut, so that no half of a secret stays. Whatever cannot be read (a throwing getter, a
 * revoked proxy) becomes a mark instead of a failure.
 */
import { isToolError, type JsonValue } from '@tool-runtime/protocol';

export type Redact = (text: string) => string;

export interface Cleaner {
  /** For one entry; what it may still spend is shared by all its values. */
  clean(name: string, value: unknown): JsonValue | undefined;
  text(text: string): string;
}

export const REDACTED = '[redacted]';

const MAX_TEXT = 2048;
const MAX_ENTRY = 8192;
const VALUE_COST = 8;
const MAX_DEPTH = 5;
export const MAX_MEMBERS = 50;
/** Far more than is shown: what is cut here must be cleaned as if it were whole. */
const MAX_SCANNED = 16 * 1024;
/** As long as any token: what was cut in two at the end goes with its other half. */
const CUT_MARGIN = 512;

/** Members whose value is a secret whatever it looks like. */
const SECRET_MEMBER =
  /(?:authorization|cookie|token|secret|passw(?:or)?d|passphrase|api[_-]?key|private[_-]?key|credentials?|sec-websocket-protocol)$/i;
/** Our own tokens and what introduces a foreign one. */
const TOKENS = /trt_[A-Za-z0-9_-]*/gi;
const INTRODUCED =
  /\b(bearer(?:[ \t]{1,4}|\.)|basic[ \t]{1,4}|token=|authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:bearer[ \t]{1,4})?)[^\s"',;&]+/gi;

export function createCleaner(redact: Redact): Cleaner {
  let left = MAX_ENTRY;

  function text(value: string): string {
    const isLong = value.length > MAX_SCANNED;
    const scanned = isLong ? value.slice(0, MAX_SCANNED) : value;
    const clean = redactText(scanned, redact);
    const whole = isLong ? clean.slice(0, Math.max(0, clean.length - CUT_MARGIN)) : clean;
    const room = Math.max(0, Math.min(MAX_TEXT, left));
    left -= Math.min(room, whole.length);
    return whole.length > room || isLong ? `${whole.slice(0, room)}[cut]` : whole;
  }

  function clean(name: string, value: unknown, depth = 0): JsonValue | undefined {
    left -= VALUE_COST;
    if (value === undefined || value === null || typeof value === 'boolean') return value;
    if (SECRET_MEMBER.test(name)) return REDACTED;
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value !== 'object') return text(String(value));
    if (depth >= MAX_DEPTH || left <= 0) return '[cut]';
    return cleanObject(value, depth + 1);
  }

  function cleanObject(value: object, depth: number): JsonValue | undefined {
    if (isToolError(value)) return cleanMembers(Object.entries(value.toEntry()), depth);
    if (value instanceof Error) return cleanMembers(describeError(value), depth);
    if (value instanceof Date) return text(String(value.toJSON()));
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (Array.isArray(value)) return cleanItems(value.slice(0, MAX_MEMBERS), depth);
    if (value instanceof Set) return cleanItems([...value].slice(0, MAX_MEMBERS), depth);
    return cleanMembers(value instanceof Map ? [...value] : Object.entries(value), depth);
  }

  function cleanItems(items: readonly unknown[], depth: number): JsonValue {
    return items.map((item) => clean('', item, depth) ?? null);
  }

  function cleanMembers(entries: readonly (readonly [unknown, unknown])[], depth: number): JsonValue {
    const members = entries.slice(0, MAX_MEMBERS).flatMap(([key, value]): [string, JsonValue][] => {
      const name = String(key);
      const cleaned = clean(name, value, depth);
      return cleaned === undefined ? [] : [[text(name), cleaned]];
    });
    return Object.fromEntries(members);
  }

  return {
    text,
    clean(name, value) {
      try {
        return clean(name, value);
      } catch {
        // A getter, proxy or toString that throws: a log line is not worth a crash.
        return '[unreadable]';
      }
    },
  };
}

function redactText(text: string, redact: Redact): string {
  const clean = text.replace(INTRODUCED, (_, before: string) => before + REDACTED).replace(TOKENS, REDACTED);
  return redact(clean);
}

function describeError(error: Error): [string, unknown][] {
  const { code } = error as { code?: unknown };
  return [
    ['name', error.name],
    ['message', error.message],
    ['code', code],
    ['stack', error.stack],
    ['cause', error.cause],
  ];
}
