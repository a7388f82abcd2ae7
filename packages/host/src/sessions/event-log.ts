/** The last events of one session as they go over the wire, for connections that come back. */

export interface LoggedEvent {
  readonly id: number;
  readonly event: string;
  readonly requestId: string;
  readonly text: string;
}

export class EventLog {
  readonly #size: number;
  #events: (LoggedEvent | undefined)[] = [];
  #start = 0;
  #lastId = 0;
  /** Id of the newest event that is no longer kept. */
  #forgotten = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get lastId(): number {
    return this.#lastId;
  }

  append(event: LoggedEvent): void {
    this.#lastId = event.id;
    this.#events.push(event);
    if (this.#events.length - this.#start > this.#size) {
      this.#forgotten = this.#events[this.#start]?.id ?? this.#forgotten;
      // Its place stays until the front is cut off, its text must not: each session would hold twice what is kept.
      this.#events[this.#start] = undefined;
      this.#start += 1;
    }
    // The dropped front is cut off now and then, not each time.
    if (this.#start > this.#size) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
  }

  /** What came after `id`, and whether something between is gone. */
  after(id: number): { readonly events: readonly LoggedEvent[]; readonly isComplete: boolean } {
    const kept = this.#events
      .slice(this.#start)
      .filter((event): event is LoggedEvent => event !== undefined && event.id > id);
    return { events: kept, isComplete: id >= this.#forgotten };
  }
}
