/**
 * Envelopes as JSON lines on two streams.
 *
 * When a client sends faster than calls finish, or does not read its answers, reading stops until it catches up:
 * memory stays flat.
 */
import type { Readable, Writable } from 'node:stream';
import type { ErrorMessage, ServerMessage } from '@tool-runtime/protocol';
import type { Session } from '@tool-runtime/sdk';
import { createDispatcher, type Dispatcher } from '../dispatch.ts';
import { type Line, LineSplitter } from './line-splitter.ts';
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
  /** What unanswered requests may weigh together before reading stops. */
  readonly maxHeldBytes?: number;
}

/** Serves until the input ends, the client is gone or `signal` fires, and every running call has answered. */
export async function serveStdio(session: Session, options: StdioOptions): Promise<void> {
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  // A client that is gone cannot be answered: stop what runs for it.
  const writer = new LineWriter(options.output, () => stopped.abort());
  const send = (message: ServerMessage): void => writer.write(JSON.stringify(message));
  const dispatcher = createDispatcher(session, {
    send,
    now: Date.now,
    maxBytes: options.maxRequestBytes,
    events: options.events,
    ...(options.maxHeldBytes === undefined ? {} : { maxHeldBytes: options.maxHeldBytes }),
  });
  send({
    type: 'SessionAck',
    session_id: session.id,
    accepted: true,
    server_version: options.serverVersion,
    timestamp: Math.floor(Date.now() / 1000),
  });
  const stop = (): void => {
    dispatcher.cancelAll();
    options.input.destroy();
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  await readMessages(options, { dispatcher, writer, signal });
  await dispatcher.drain();
  signal.removeEventListener('abort', stop);
  dispatcher.close();
  await session.close();
  await writer.flush();
  writer.release();
}

interface Service {
  readonly dispatcher: Dispatcher;
  readonly writer: LineWriter;
  readonly signal: AbortSignal;
}

async function readMessages({ input, maxRequestBytes }: StdioOptions, service: Service): Promise<void> {
  const { dispatcher, signal } = service;
  // Twice the limit, because a request somewhat too large can still be answered under its own id.
  const lines = new LineSplitter(2 * maxRequestBytes);
  const take = (line: Line): void => {
    if (line.ok) dispatcher.receive(line.text);
    else dispatcher.refuse(unreadable(line.reason, maxRequestBytes));
  };
  try {
    for await (const chunk of input) {
      for (const line of lines.push(toBytes(chunk))) {
        take(line);
        await caughtUp(service);
        if (signal.aborted) return;
      }
    }
  } catch {
    // The input broke off; what was read whole is served, like after a clean end.
  }
  if (!signal.aborted) for (const line of lines.end()) take(line);
}

async function caughtUp({ dispatcher, writer }: Service): Promise<void> {
  const place = dispatcher.place();
  if (place !== undefined) await place;
  const ready = writer.ready();
  if (ready !== undefined) await ready;
}

function toBytes(chunk: unknown): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
}

function unreadable(reason: Extract<Line, { ok: false }>['reason'], maxBytes: number): ErrorMessage {
  return {
    type: 'ErrorMessage',
    code: 'E_VALIDATION_FAIL',
    message: reason === 'too_large' ? `Line is longer than the limit: ${maxBytes} bytes` : 'Line is not valid UTF-8',
    request_id: null,
    details: { reason, next: NEXT_STEPS[reason] },
  };
}

const NEXT_STEPS = {
  too_large: 'send less at once, or raise limits.max_request_bytes in the registry',
  invalid_utf8: 'encode every line as UTF-8; send other bytes as base64',
} as const;
