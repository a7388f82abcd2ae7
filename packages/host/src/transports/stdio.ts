/**
 * Envelopes as JSON lines on two streams.
 *
 * When a client sends faster than calls finish, or does not read its answers, reading stops until it catches up:
 * memory stays flat.
 */
import type { Readable, Writable } from 'node:stream';
import type { Session } from '@tool-runtime/sdk';
import { Connection } from '../dispatch/connection.ts';
import { reachOnly } from '../dispatch/reach-only.ts';
import { type ServedSessionOptions, serveSession } from '../sessions/served-session.ts';
import { readLines } from './json-lines.ts';
import { LineWriter } from './line-writer.ts';

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly serverVersion: string;
  readonly maxRequestBytes: number;
  /** Progress of calls only, or every change of their status too. */
  readonly events: 'progress' | 'all';
  /** Cancels what runs and ends the session. */
  readonly signal?: AbortSignal;
  /** How many of its calls the session runs at once. */
  readonly maxInFlight?: number;
  /** What unanswered requests may weigh together before reading stops. */
  readonly maxHeldBytes?: number;
}

/** Answers a client may leave unread before its further calls wait. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

/** Serves until the input ends, the client is gone or `signal` fires, and every running call has answered. */
export async function serveStdio(session: Session, options: StdioOptions): Promise<void> {
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  // A client that is gone cannot be answered: stop what runs for it.
  const writer = new LineWriter(options.output, () => stopped.abort());
  let lastEventId = 0;
  const serving: ServedSessionOptions = {
    ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
    keptEvents: 0,
    nextEventId: () => ++lastEventId,
    now: () => performance.now(),
  };
  const served = serveSession(session, serving);
  const connection = new Connection(reachOnly(served, serving), {
    send: (text) => writer.write(text),
    room: () => (options.output.writableLength > MAX_UNSENT_BYTES ? writer.ready() : undefined),
    maxBytes: options.maxRequestBytes,
    events: options.events,
    serverVersion: options.serverVersion,
    ...(options.maxHeldBytes === undefined ? {} : { maxHeldBytes: options.maxHeldBytes }),
  });
  connection.greet(served);
  const stop = (): void => {
    connection.cancelAll();
    options.input.destroy();
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  await readLines(options.input, { connection, writer, signal, maxRequestBytes: options.maxRequestBytes });
  await connection.drain();
  signal.removeEventListener('abort', stop);
  connection.close();
  await served.close({ children: 'end' });
  await writer.flush();
  writer.release();
}
