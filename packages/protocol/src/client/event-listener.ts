/**
 * The events of a session for one reader, each once and in order, through a bounded buffer.
 *
 * A slow reader loses its oldest events and is told how many by an `EventsMissed` message; it never grows memory and
 * never holds up calls.
 */
import type { EventMessage } from '../envelopes/from-host/event-message.ts';

export interface EventListenerOptions {
  /** The last event that is not wanted any more. */
  readonly after: number | undefined;
  readonly capacity: number;
  onLeave(listener: EventListener): void;
}

export class EventListener implements AsyncIterableIterator<EventMessage> {
  readonly #options: EventListenerOptions;
  #buffer: EventMessage[] = [];
  #last: number;
  #isActive = false;
  #missed = 0;
  #sessionId = '';
  #end: { error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(options: EventListenerOptions) {
    this.#options = options;
    this.#last = options.after ?? -1;
  }

  /** From now on events count. What came before was asked for again and will come in its order. */
  activate(): void {
    this.#isActive = true;
  }

  /** Another session took the place of the last: its ids begin anew. */
  restart(): void {
    this.#last = -1;
  }

  push(event: EventMessage): void {
    if (!this.#isActive || this.#end !== undefined) return;
    if (event.id !== undefined) {
      if (event.id <= this.#last) return;
      this.#last = event.id;
    }
    if (this.#buffer.length >= this.#options.capacity) {
      this.#sessionId = this.#buffer.shift()?.session_id ?? this.#sessionId;
      this.#missed += 1;
    }
    this.#buffer.push(event);
    this.#wake?.();
  }

  /** What is buffered is still read. With an error the reader then gets it as a throw. */
  end(error?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#options.onLeave(this);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<EventMessage>> {
    while (this.#buffer.length === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#missed > 0) return { done: false, value: this.#takeMissed() };
    const event = this.#buffer.shift();
    if (event !== undefined) return { done: false, value: event };
    const error = this.#end?.error;
    this.#end = { error: undefined };
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<EventMessage>> {
    this.#buffer = [];
    this.#missed = 0;
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeMissed(): EventMessage {
    const missed = this.#missed;
    this.#missed = 0;
    const [first] = this.#buffer;
    return {
      type: 'EventMessage',
      event: 'EventsMissed',
      // It belongs to no request; the host fills the field in the same way.
      request_id: this.#sessionId === '' ? 'none' : this.#sessionId,
      ...(this.#sessionId === '' ? {} : { session_id: this.#sessionId }),
      ...(first?.id === undefined ? {} : { id: Math.max(0, first.id - 1) }),
      progress: { pct: 0, message: `${missed} events were dropped because this listener was slow` },
      data: { missed },
    };
  }
}
