/**
 * The host's log: one line per entry on a stream, JSON or text, whatever is logged.
 *
 * It never throws, never waits and never piles up: while the reader is slow, entries are dropped and counted, and the
 * next line that gets through is preceded by the count.
 */
import type { Writable } from 'node:stream';
import { isToolError, type JsonValue } from '@tool-runtime/protocol';
import { plainJson, plainText } from '../terminal/terminal.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type LogFields = Readonly<Record<string, unknown>>;
type Write = (event: string, fields?: LogFields) => void;

export interface Log extends Readonly<Record<LogLevel, Write>> {
  /** Entries lost so far because the reader was slow or gone. */
  readonly dropped: number;
}

export interface LogOptions {
  readonly stream: Writable;
  /** The least important level that is written. */
  readonly level: LogLevel | 'silent';
  readonly format: 'json' | 'text';
  /** Takes further secrets out of a text, such as `createRedactor(…).redactText` of the sdk. */
  readonly redact?: Redact;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface Entry {
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: LogFields;
}

/** What may wait in the stream before entries are dropped. */
const MAX_WAITING_BYTES = 256 * 1024;
/** Escapes make a line longer than what was counted; one that is longer still loses its fields. */
const MAX_LINE = 64 * 1024;
/** What a line begins with; a field of the same name gets another. */
const OWN_NAMES: ReadonlySet<string> = new Set(['ts', 'level', 'event']);

export function createLog({ stream, level, format, redact = (text) => text, now = Date.now }: LogOptions): Log {
  const least = level === 'silent' ? LOG_LEVELS.length : LOG_LEVELS.indexOf(level);
  const write = format === 'json' ? formatJson : formatText;
  let dropped = 0;
  let untold = 0;
  // A reader that leaves must not end the host.
  stream.on('error', () => {});

  function lineOf(entry: Entry): string {
    const cleaner = createCleaner(redact);
    const head: Head = { ts: new Date(now()).toISOString(), level: entry.level, event: cleaner.text(entry.event) };
    const fields: [string, JsonValue][] = [];
    for (const [name, value] of Object.entries(entry.fields).slice(0, MAX_MEMBERS)) {
      const clean = cleaner.clean(name, value);
      if (clean !== undefined) fields.push([OWN_NAMES.has(name) ? `field_${name}` : cleaner.text(name), clean]);
    }
    const line = write(head, fields);
    return line.length > MAX_LINE ? write(head, [['cut', true]]) : line;
  }

  function add(entry: Entry): void {
    try {
      if (isReady(stream)) {
        const lost = untold === 0 ? '' : lineOf({ level: 'warn', event: 'log_dropped', fields: { count: untold } });
        stream.write(lost + lineOf(entry));
        untold = 0;
        return;
      }
    } catch {
      // Nothing that is logged, and no stream, may break the host; the loss is counted below.
    }
    dropped += 1;
    untold += 1;
  }

  const writerOf = (own: LogLevel): Write =>
    LOG_LEVELS.indexOf(own) < least ? () => {} : (event, fields = {}) => add({ level: own, event, fields });

  return {
    debug: writerOf('debug'),
    info: writerOf('info'),
    warn: writerOf('warn'),
    error: writerOf('error'),
    get dropped() {
      return dropped;
    },
  };
}

interface Head {
  readonly ts: string;
  readonly level: LogLevel;
  readonly event: string;
}

type Fields = readonly (readonly [string, JsonValue])[];

function isReady(stream: Writable): boolean {
  return !stream.destroyed && !stream.writableEnded && stream.writableLength <= MAX_WAITING_BYTES;
}

function formatJson(head: Head, fields: Fields): string {
  return `${plainJson(JSON.stringify({ ...head, ...Object.fromEntries(fields) }))}\n`;
}

function formatText({ ts, level, event }: Head, fields: Fields): string {
  const words = fields.map(([name, value]) => `${plainText(name)}=${formatValue(value)}`);
  return `${[ts, level.toUpperCase().padEnd(5), plainText(event), ...words].join(' ')}\n`;
}

/** Bare where that cannot be mistaken for something else. */
function formatValue(value: JsonValue): string {
  const isBare = typeof value === 'string' && /^[\w.:/@+-]+$/.test(value);
  return isBare ? value : plainJson(JSON.stringify(value));
}

type Redact = (text: string) => string;

interface Cleaner {
  /** For one entry; what it may still spend is shared by all its values. */
  clean(name: string, value: unknown): JsonValue | undefined;
  text(text: string): string;
}

const REDACTED = '[redacted]';

const MAX_TEXT = 2048;
const MAX_ENTRY = 8192;
const VALUE_COST = 8;
const MAX_DEPTH = 5;
const MAX_MEMBERS = 50;
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

/**
 * Anything at all, made fit for a log: plain JSON, bounded, without secrets.
 *
 * Text is cleaned before it is cut, so that no half of a secret stays. Whatever cannot be read (a throwing getter, a
 * revoked proxy) becomes a mark instead of a failure.
 */
function createCleaner(redact: Redact): Cleaner {
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
