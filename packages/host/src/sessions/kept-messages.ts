/** Events and answers that are kept for clients whose connection broke. */

export interface LoggedEvent {
  readonly id: number;
  readonly event: string;
  readonly requestId: string;
  readonly text: string;
}

interface Kept {
  readonly key: string;
  readonly text: string;
}

/** The dropped front of the line is cut off when it is this long. */
const SLACK = 1024;

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

  /** The messages after `id`, and whether some in between are gone. */
  after(id: number): { readonly events: readonly LoggedEvent[]; readonly isComplete: boolean } {
    const kept = this.#events
      .slice(this.#start)
      .filter((event): event is LoggedEvent => event !== undefined && event.id > id);
    return { events: kept, isComplete: id >= this.#forgotten };
  }
}

/**
 * Recent answers of all sessions, for clients whose connection broke before they read theirs. Bounded; oldest go first.
 */
export class AnswerStore {
  readonly #max: number;
  readonly #byKey = new Map<string, Kept>();
  /** In the order they came. A plain line with a moving front: deleting from the front of a map is slow. */
  #line: (Kept | undefined)[] = [];
  #front = 0;
  #size = 0;

  constructor(maxCharacters: number) {
    this.#max = maxCharacters;
  }

  keep(sessionId: string, requestId: string, text: string): void {
    const kept: Kept = { key: keyOf(sessionId, requestId), text };
    this.#byKey.set(kept.key, kept);
    this.#line.push(kept);
    this.#size += text.length;
    while (this.#size > this.#max) this.#dropOldest();
  }

  find(sessionId: string, requestId: string): string | undefined {
    return this.#byKey.get(keyOf(sessionId, requestId))?.text;
  }

  #dropOldest(): void {
    const oldest = this.#line[this.#front] as Kept;
    // Its place stays for a while, its text must not: a thousand large answers would outweigh the limit many times.
    this.#line[this.#front] = undefined;
    this.#front += 1;
    this.#size -= oldest.text.length;
    // A later answer under the same id stays.
    if (this.#byKey.get(oldest.key) === oldest) this.#byKey.delete(oldest.key);
    if (this.#front < SLACK) return;
    this.#line = this.#line.slice(this.#front);
    this.#front = 0;
  }
}

/** A space cannot be confused: session ids are ours and hold none. */
function keyOf(sessionId: string, requestId: string): string {
  return `${sessionId} ${requestId}`;
}
