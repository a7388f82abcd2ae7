/** Everybody who listens to the events of a client's session. They join one after the other, each with its own start. */
import type { EventMessage } from '../envelopes/from-host/event-message.ts';
import { EventListener } from './event-listener.ts';

export interface EventsOptions {
  /**
   * Progress of calls and what needs attention (the default), or every change of status too. One connection has one
   * level: once somebody asked for all, everybody gets all.
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
      // May stop here: whoever reads from the listener gets it.
      listener.end(thrown);
    }
  }
}
