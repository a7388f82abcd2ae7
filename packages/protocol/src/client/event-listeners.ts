/** The listeners of a client's session. They join one after the other, each with its own start. */
import type { EventMessage } from '../envelopes/from-host/event-message.ts';

export interface EventsOptions {
  /**
   * Progress of calls and what needs attention (the default), or every change of status too. One connection has one
   * level: once one listener asked for all, every listener gets all.
   */
  readonly events?: 'progress' | 'all';
  /** Begins after this event, as far as the host still keeps them. Without it: from now on. */
  readonly after?: number;
  /** How many events wait for a slow reader. */
  readonly capacity?: number;
}

/** How to ask the host for the events of a session: find the session, then send. The SessionAck answers it. */
export interface JoinSteps {
  session(): Promise<string>;
  send(sessionId: string, wish: Pick<EventsOptions, 'events' | 'after'>): Promise<void>;
}

interface Join {
  readonly listener: EventListener;
  readonly answered: PromiseWithResolvers<void>;
}

interface EventListenerOptions {
  /** The last event that is not wanted any more. */
  readonly after: number | undefined;
  readonly capacity: number;
  onLeave(listener: EventListener): void;
}

export class EventListeners {
  readonly #listeners = new Set<EventListener>();
  #level: 'progress' | 'all' = 'progress';
  #turn: Promise<void> = Promise.resolve();
  #joining: Join | undefined;

  add({ events, after, capacity = 1024 }: EventsOptions, steps: JoinSteps): EventListener {
    if (events === 'all') this.#level = 'all';
    const listener = new EventListener({ after, capacity, onLeave: (left) => this.#leave(left) });
    this.#listeners.add(listener);
    this.#turn = this.#turn.then(() => this.#join(listener, after, steps));
    return listener;
  }

  /** The host acknowledged: events from here on are those that were asked for. */
  joined(): void {
    this.#joining?.listener.activate();
    this.#joining?.answered.resolve();
    this.#joining = undefined;
  }

  push(event: EventMessage): void {
    for (const listener of this.#listeners) listener.push(event);
  }

  restart(): void {
    for (const listener of this.#listeners) listener.restart();
  }

  end(error?: unknown): void {
    for (const listener of [...this.#listeners]) listener.end(error);
  }

  #leave(listener: EventListener): void {
    this.#listeners.delete(listener);
    if (this.#joining?.listener === listener) this.joined();
  }

  async #join(listener: EventListener, after: number | undefined, steps: JoinSteps): Promise<void> {
    try {
      const sessionId = await steps.session();
      if (!this.#listeners.has(listener)) return;
      const answered = Promise.withResolvers<void>();
      this.#joining = { listener, answered };
      await steps.send(sessionId, { events: this.#level, ...(after === undefined ? {} : { after }) });
      await answered.promise;
    } catch (thrown) {
      // May stop here: the reader of the listener gets it.
      listener.end(thrown);
    }
  }
}

/**
 * The events of a session for one reader, each once and in order, through a bounded buffer.
 *
 * A slow reader loses its oldest events and learns how many from an `EventsMissed` message; memory does not grow, and
 * no call waits for it.
 */
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

  /** From now on events count. Earlier events were requested again and arrive in order. */
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
