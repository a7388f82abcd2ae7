/**
 * The host's log: one line per entry on a stream, JSON or text, whatever is logged.
 *
 * It never throws, never waits and never piles up: while the reader is slow, entries are dropped and counted, and the
 * next line that gets through is preceded by the count.
 */
import type { Writable } from 'node:stream';
import type { JsonValue } from '@tool-runtime/protocol';
import { plainJson, plainText } from '../terminal/terminal.ts';
import { createCleaner, MAX_MEMBERS, type Redact } from './clean-value.ts';

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
