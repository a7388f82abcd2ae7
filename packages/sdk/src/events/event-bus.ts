/**
 * Announces what happens to whoever listens, and costs nearly nothing when nobody does.
 *
 * Each listener has a bounded buffer. A slow one loses its oldest events and is told how many by an `EventsMissed`
 * message; it never grows memory and never slows a call down.
 */
import type { EventMessage } from '@tool-runtime/protocol';
import type { RuntimeEvent } from '../contracts/events.ts';

export interface EventBus {
  /** False when an event would reach nobody: callers may skip building it. */
  readonly active: boolean;
  emit(sessionId: string, message: EventMessage): void;
  /** Ends when `close` is called or the loop is left. */
  subscribe(filter?: { readonly sessionId?: string }): AsyncIterableIterator<RuntimeEvent>;
  /** Calls back at once, in order, for as long as the returned function is not called. The callback must not throw. */
  listen(sessionId: string, callback: (event: RuntimeEvent) => void): () => void;
  close(): void;
}

export function createEventBus(options: { readonly capacity?: number } = {}): EventBus {
  const capacity = options.capacity ?? 1024;
  const listeners = new Set<Target>();
  let lastId = 0;
  return {
    get active() {
      return listeners.size > 0;
    },
    emit(sessionId, message) {
      lastId += 1;
      for (const listener of listeners) {
        if (listener.sessionId === undefined || listener.sessionId === sessionId) {
          listener.push({ id: lastId, sessionId, message });
        }
      }
    },
    subscribe(filter = {}) {
      const listener = new Listener(filter.sessionId, capacity, () => listeners.delete(listener));
      listeners.add(listener);
      return listener;
    },
    listen(sessionId, callback) {
      const target: Target = { sessionId, push: callback, end: () => listeners.delete(target) };
      listeners.add(target);
      return target.end;
    },
    close() {
      for (const listener of [...listeners]) listener.end();
    },
  };
}

interface Target {
  readonly sessionId: string | undefined;
  push(event: RuntimeEvent): void;
  end(): void;
}

class Listener implements Target, AsyncIterableIterator<RuntimeEvent> {
  readonly sessionId: string | undefined;
  readonly #capacity: number;
  readonly #leave: () => void;
  #buffer: RuntimeEvent[] = [];
  #missed = 0;
  #done = false;
  #wake: (() => void) | undefined;

  constructor(sessionId: string | undefined, capacity: number, leave: () => void) {
    this.sessionId = sessionId;
    this.#capacity = capacity;
    this.#leave = leave;
  }

  push(event: RuntimeEvent): void {
    if (this.#buffer.length >= this.#capacity) {
      this.#buffer.shift();
      this.#missed += 1;
    }
    this.#buffer.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#done = true;
    this.#leave();
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<RuntimeEvent>> {
    while (this.#buffer.length === 0 && !this.#done) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#missed > 0) return { done: false, value: this.#takeMissed() };
    const event = this.#buffer.shift();
    return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
  }

  async return(): Promise<IteratorResult<RuntimeEvent>> {
    this.#buffer = [];
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeMissed(): RuntimeEvent {
    const missed = this.#missed;
    this.#missed = 0;
    const nextId = this.#buffer[0]?.id ?? 0;
    return {
      id: nextId - 1,
      sessionId: this.sessionId ?? '',
      message: {
        type: 'EventMessage',
        event: 'EventsMissed',
        request_id: '',
        progress: { pct: 0, message: `${missed} events were dropped because this listener was slow` },
        data: { missed },
      },
    };
  }
}
