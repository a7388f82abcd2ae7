/**
 * Envelopes in, envelopes out, for one session. Transports turn bytes into text and back; everything else is here.
 *
 * Every request gets exactly one terminal message, and none of its events comes after it, whatever the tool still
 * reports by then.
 */
import {
  type ErrorMessage,
  parseClientMessage,
  type ServerMessage,
  type ToolRequest,
  toToolError,
} from '@tool-runtime/protocol';
import type { Session } from '@tool-runtime/sdk';

export interface Dispatcher {
  /** One message as it came off the wire. Never throws; answers go to `send`. */
  receive(text: string): void;
  /** Refuses one message the transport could not even read, such as a line over the limit. */
  refuse(error: ErrorMessage): void;
  /** How many requests have no answer yet. */
  readonly inFlight: number;
  /** Nothing to wait for, or a promise of the moment when unanswered requests weigh less than the limit again. */
  place(): Promise<void> | undefined;
  /** Resolves when every request so far has its answer. */
  drain(): Promise<void>;
  /** Cancels what still runs. */
  cancelAll(): void;
  /** Stops forwarding events. */
  close(): void;
}

export interface DispatcherOptions {
  readonly maxBytes: number;
  /** Progress of calls only, or every change of their status too. */
  readonly events: 'progress' | 'all';
  readonly send: (message: ServerMessage) => void;
  readonly now: () => number;
  /** What unanswered requests may weigh together before `place` makes a transport wait. */
  readonly maxHeldBytes?: number;
}

/** Thousands of small requests or a few of the largest: enough that a cancel is still read behind them. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** What a request holds besides its text, roughly. */
const REQUEST_BYTES = 8 * 1024;

export function createDispatcher(session: Session, options: DispatcherOptions): Dispatcher {
  const { send, maxHeldBytes = MAX_HELD_BYTES } = options;
  const running = new Map<string, AbortController>();
  const answers = new Set<Promise<void>>();
  const held = new HeldBytes(maxHeldBytes);
  const stopEvents = session.listen(({ message }) => {
    const isWanted = options.events === 'all' || message.event === 'TaskProgress';
    if (isWanted && running.has(message.request_id)) send(message);
  });

  function start(request: ToolRequest, bytes: number): void {
    // A reused id is refused by the session; it must not take over the abort handle of the call it collides with.
    const controller = new AbortController();
    const isFirst = !running.has(request.request_id);
    if (isFirst) running.set(request.request_id, controller);
    held.add(bytes);
    const answer = session.handle(request, { signal: controller.signal }).then((message) => {
      if (isFirst) running.delete(request.request_id);
      answers.delete(answer);
      send(message);
      held.add(-bytes);
    });
    answers.add(answer);
  }

  /** An unreadable cancel names the request it is about; its refusal must not pass for that request's answer. */
  function reject(error: ErrorMessage): void {
    const isOfAnother = error.request_id !== null && running.has(error.request_id);
    send(isOfAnother ? { ...error, request_id: null } : error);
  }

  return {
    receive(text) {
      const parsed = parseClientMessage(text, { maxBytes: options.maxBytes });
      if (!parsed.ok) reject(parsed.error);
      else if (parsed.message.type === 'ToolRequest') start(parsed.message, text.length + REQUEST_BYTES);
      else if (parsed.message.session_id !== session.id) send(wrongSession());
      else if (parsed.message.type === 'CancelRequest') running.get(parsed.message.request_id)?.abort();
      else send(beat(session, options.now));
    },
    refuse: reject,
    get inFlight() {
      return answers.size;
    },
    place: () => held.place(),
    async drain() {
      while (answers.size > 0) await Promise.all(answers);
    },
    cancelAll() {
      for (const controller of running.values()) controller.abort();
    },
    close: stopEvents,
  };
}

class HeldBytes {
  readonly #max: number;
  #bytes = 0;
  #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= this.#max) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  place(): Promise<void> | undefined {
    if (this.#bytes < this.#max) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

function beat(session: Session, now: () => number): ServerMessage {
  try {
    session.heartbeat();
  } catch (thrown) {
    // The session has ended: the client learns it here, not from a call that fails later.
    const { code, message, details } = toToolError(thrown);
    return { type: 'ErrorMessage', code, message, request_id: null, details };
  }
  return { type: 'Heartbeat', session_id: session.id, timestamp: Math.floor(now() / 1000) };
}

function wrongSession(): ErrorMessage {
  return {
    type: 'ErrorMessage',
    code: 'E_POLICY',
    message: 'Message names a session that is not this one',
    request_id: null,
    details: { reason: 'unknown_session', path: 'session_id', next: 'use the session_id of the SessionAck' },
  };
}
