/**
 * Attempts to get in that failed: counted per source, limited, and recorded without anything of the token.
 *
 * A right credential is always accepted, also from a source over its limit: clients of one machine or behind one proxy
 * share an address, and none of them may lock out the others. What the limit takes away is the news: every further
 * failure gets the same cheap answer and loses its connection. Sources are network addresses and user ids as the kernel
 * tells them; headers such as X-Forwarded-For are not read. Memory and log lines are bounded whatever comes in.
 */
import { isIPv6 } from 'node:net';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { Log } from '../ops/log.ts';

export interface FailedAttempts {
  /** Runs a proof of identity. Counts a ToolError it throws, and throws it, or the one of the limit instead. */
  judge<Proven>(source: string, prove: () => Proven): Proven;
  figures(): AttemptFigures;
  /** Logs the sums of all sources. */
  close(): void;
}

export interface AttemptFigures {
  /** Since the start, by reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** Of these, how many came from a source over its limit. */
  readonly limited: number;
  /** Sources with failures in their current window; beyond the bound they count as one. */
  readonly sources: number;
}

export interface FailedAttemptsOptions {
  readonly log: Log;
  /** Failures of one source within a minute before it is limited. */
  readonly limit: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export const ATTEMPT_WINDOW_MS = 60_000;
export const MAX_SOURCES = 1024;
/** Log lines about failures within one window, over all sources. */
export const MAX_LINES = 64;
/** A full table is not looked through for every attempt. */
const SWEEP_MS = 1000;
/** Stands for all sources that came when the table was full. */
const OTHERS = 'others';

interface Source {
  readonly firstAt: number;
  lastAt: number;
  failures: number;
}

export function createFailedAttempts({ log, limit, now }: FailedAttemptsOptions): FailedAttempts {
  const sources = new Map<string, Source>();
  const failures: Record<string, number> = {};
  let limited = 0;
  let sweptAt = 0;
  let lines = { since: 0, count: 0 };

  function sourceOf(name: string, time: number): readonly [string, Source] {
    const known = sources.get(name);
    if (known !== undefined && isCurrent(known, time)) return [name, known];
    if (known !== undefined || (sources.size >= MAX_SOURCES && Math.abs(time - sweptAt) >= SWEEP_MS)) sweep(time);
    if (sources.size >= MAX_SOURCES && name !== OTHERS) return sourceOf(OTHERS, time);
    const fresh: Source = { firstAt: time, lastAt: time, failures: 0 };
    sources.set(name, fresh);
    return [name, fresh];
  }

  /** Forgets the sources whose window is over. What was not logged one by one is logged as a sum. */
  function sweep(time: number): void {
    sweptAt = time;
    for (const [name, source] of sources) {
      if (isCurrent(source, time)) continue;
      sources.delete(name);
      const { failures: count, firstAt, lastAt } = source;
      if (count > 1) record('auth_failures', { source: name, failures: count, first: iso(firstAt), last: iso(lastAt) });
    }
  }

  function record(event: string, fields: Readonly<Record<string, unknown>>): void {
    const time = now();
    if (Math.abs(time - lines.since) >= ATTEMPT_WINDOW_MS) {
      if (lines.count > MAX_LINES) log.warn('auth_log_cut', { lines: lines.count - MAX_LINES });
      lines = { since: time, count: 0 };
    }
    lines.count += 1;
    if (lines.count <= MAX_LINES) log.warn(event, fields);
  }

  function count(name: string, error: ToolError): ToolError {
    const time = now();
    const reason = String(error.details['reason'] ?? 'other');
    failures[reason] = (failures[reason] ?? 0) + 1;
    const [key, source] = sourceOf(name, time);
    source.failures += 1;
    source.lastAt = time;
    if (source.failures === 1) record('auth_failed', { source: key, reason });
    if (source.failures === limit + 1) record('auth_limited', { source: key, failures: source.failures });
    if (source.failures <= limit) return error;
    limited += 1;
    return tooManyFailures(reason, Math.max(1000, source.firstAt + ATTEMPT_WINDOW_MS - time));
  }

  return {
    judge(source, prove) {
      try {
        return prove();
      } catch (thrown) {
        throw isToolError(thrown) ? count(source, thrown) : thrown;
      }
    },
    figures() {
      sweep(now());
      return { failures: { ...failures }, limited, sources: sources.size };
    },
    close: () => sweep(Number.POSITIVE_INFINITY),
  };
}

/** A clock that was set back begins a new window. */
function isCurrent({ firstAt }: Source, time: number): boolean {
  return Math.abs(time - firstAt) < ATTEMPT_WINDOW_MS;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function tooManyFailures(because: string, waitMs: number): ToolError {
  return new ToolError('E_POLICY', 'Too many failed attempts from this address', {
    details: {
      gate: 'auth',
      reason: 'auth_limited',
      because,
      retry_after_ms: waitMs,
      next: 'use a valid token, which is accepted at any time; without one, wait',
    },
  });
}

/** The source of a TCP connection. A network of IPv6 counts as one: a client with one address of it has all of them. */
export function addressSource(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === '' ? [] : tail.split(':');
  const missing = plain.includes('::') ? 8 - groups.length - rest.length : 0;
  const all = [...groups, ...new Array<string>(Math.max(0, missing)).fill('0'), ...rest];
  if (all.slice(0, 7).every((group) => /^0+$/.test(group))) return plain;
  return `${all.slice(0, 4).join(':')}::/64`;
}
