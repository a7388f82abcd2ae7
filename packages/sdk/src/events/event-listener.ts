/**
 * One reader of events with a bounded buffer.
 *
 * A slow one loses its oldest events and learns how many from an `EventsMissed` message; it never grows memory and never
 * slows a call down.
 */
import type { RuntimeEvent } from '../contracts/events.ts';

/** Stands where a session id is expected, for listeners that hear all of them. */
const ALL_SESSIONS = 'host';

export class EventListener implements AsyncIterableIterator<RuntimeEvent> {
  readonly #sessionId: string | undefined;
  readonly #capacity: number;
  readonly #leave: () => void;
  #buffer: RuntimeEvent[] = [];
  #missed = 0;
  #done = false;
  #waiting: (() => void)[] = [];

  constructor(sessionId: string | undefined, capacity: number, leave: () => void) {
    this.#sessionId = sessionId;
    this.#capacity = capacity;
    this.#leave = leave;
  }

  push(event: RuntimeEvent): void {
    if (this.#buffer.length >= this.#capacity) {
      this.#buffer.shift();
      this.#missed += 1;
    }
    this.#buffer.push(event);
    this.#wakeAll();
  }

  end(): void {
    this.#done = true;
    this.#leave();
    this.#wakeAll();
  }

  async next(): Promise<IteratorResult<RuntimeEvent>> {
    while (this.#buffer.length === 0 && !this.#done) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#missed > 0) return { done: false, value: this.#takeMissed() };
    const event = this.#buffer.shift();
    return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
  }

  async return(): Promise<IteratorResult<RuntimeEvent>> {
    this.#buffer = [];
    this.#missed = 0;
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #wakeAll(): void {
    if (this.#waiting.length === 0) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #takeMissed(): RuntimeEvent {
    const missed = this.#missed;
    this.#missed = 0;
    const nextId = this.#buffer[0]?.id ?? 1;
    const sessionId = this.#sessionId ?? ALL_SESSIONS;
    return {
      id: nextId - 1,
      sessionId,
      message: {
        type: 'EventMessage',
        event: 'EventsMissed',
        // It is about no call, so it carries the session's id: an empty id is not valid.
        request_id: sessionId,
        progress: { pct: 0, message: `${missed} events were dropped because this listener was slow` },
        data: { missed },
      },
    };
  }
}
