/** What one connection has to do with one session: the requests it waits for, and the events it gets. */
import type { LoggedEvent } from '../sessions/kept-messages.ts';
import type { EventDetail, ServedSession } from '../sessions/served-session.ts';
import { missedText } from './resume.ts';

export interface LinkOutput {
  readonly send: (text: string) => void;
  /** True while the client does not read; it then gets answers but no events, and later the number it missed. */
  readonly isCongested: () => boolean;
  readonly onMissed: () => void;
  /** The session has ended: no more will come. */
  readonly onEnd: () => void;
}

export class SessionLink {
  readonly served: ServedSession;
  /** Requests whose answer will go out on this connection. */
  readonly requests = new Set<string>();
  readonly #output: LinkOutput;
  readonly #ownEvents: EventDetail;
  #isJoined = false;
  #missed = 0;
  #leave: () => void = () => {};

  /** Of its own calls it gets `events`. */
  constructor(served: ServedSession, events: EventDetail, output: LinkOutput) {
    this.served = served;
    this.#ownEvents = events;
    this.#output = output;
    this.#listen(events);
  }

  /** From now on all events of the session go out here. */
  join(events: EventDetail): void {
    this.#isJoined = true;
    this.#leave();
    this.#listen(events);
  }

  leave(): void {
    this.#leave();
  }

  #listen(events: EventDetail): void {
    const onEnd = (): void => {
      this.#leave();
      this.#output.onEnd();
    };
    this.#leave = this.served.listen(events, (event) => this.#forward(event), onEnd);
  }

  #forward(event: LoggedEvent): void {
    if (!this.#isJoined && !this.#isOwn(event)) return;
    if (this.#output.isCongested()) {
      this.#missed += 1;
      this.#output.onMissed();
      return;
    }
    if (this.#missed > 0) this.#tellMissed(event.id - 1);
    this.#output.send(event.text);
  }

  #isOwn({ requestId, event }: LoggedEvent): boolean {
    return this.requests.has(requestId) && (this.#ownEvents === 'all' || event === 'TaskProgress');
  }

  #tellMissed(id: number): void {
    const message = `${this.#missed} events were dropped because this connection was slow`;
    this.#output.send(missedText(this.served.id, id, message, this.#missed));
    this.#missed = 0;
  }
}
