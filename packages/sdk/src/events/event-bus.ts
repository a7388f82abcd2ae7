/**
 * Sends events to listeners; costs nearly nothing when there are none.
 *
 * Listeners are kept by session, so that a thousand sessions with one listener each do not look at each other's events.
 */
import type { EventMessage } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { type EventSelection, type RuntimeEvent, STATUS_EVENT } from '../contracts/telemetry.ts';

export interface EventFilter {
  /** Undefined: every session. */
  readonly sessionId?: string;
  /** `all` by default. */
  readonly events?: EventSelection;
}

export interface EventBus {
  /** False when an event of this kind would reach no listener: callers skip building it. */
  hears(sessionId: string, selection: EventSelection): boolean;
  emit(sessionId: string, message: EventMessage): void;
  /** Ends when `close` is called or the loop is left. */
  subscribe(filter?: EventFilter): AsyncIterableIterator<RuntimeEvent>;
  /** Calls back at once, in order, for as long as the returned function is not called. One that throws hears no more. */
  listen(
    sessionId: string,
    callback: (event: RuntimeEvent) => void,
    options?: { readonly events?: EventSelection },
  ): () => void;
  close(): void;
}

/** Used as a session id for listeners that hear all sessions. */
const ALL_SESSIONS = 'host';

export function createEventBus(options: { readonly capacity?: number } = {}): EventBus {
  const capacity = options.capacity ?? 1024;
  const everywhere = new Audience();
  const sessions = new Map<string, Audience>();
  let lastId = 0;

  function join(sessionId: string | undefined, target: Target): () => void {
    const audience = sessionId === undefined ? everywhere : audienceOf(sessions, sessionId);
    audience.add(target);
    return () => {
      audience.remove(target);
      if (sessionId !== undefined && audience.isEmpty && sessions.get(sessionId) === audience) {
        sessions.delete(sessionId);
      }
    };
  }

  return {
    hears: (sessionId, selection) => everywhere.hears(selection) || sessions.get(sessionId)?.hears(selection) === true,
    emit(sessionId, message) {
      lastId += 1;
      const event = { id: lastId, sessionId, message: forPeople(message) };
      everywhere.tell(event);
      sessions.get(sessionId)?.tell(event);
    },
    subscribe({ sessionId, events = 'all' } = {}) {
      let leave: (() => void) | undefined;
      const listener = new EventListener(sessionId, capacity, () => leave?.());
      leave = join(sessionId, { events, push: (event) => listener.push(event), end: () => listener.end() });
      return listener;
    },
    listen(sessionId, callback, { events = 'all' } = {}) {
      const leave = join(sessionId, { events, push: callback, end: () => leave() });
      return leave;
    },
    close() {
      for (const audience of [everywhere, ...sessions.values()]) audience.end();
    },
  };
}

/** The message of an event is shown to people, and most of it comes from tools and programs. Its data is for programs. */
function forPeople(message: EventMessage): EventMessage {
  const plain = plainMessage(message.progress.message);
  if (plain === message.progress.message) return message;
  return { ...message, progress: { ...message.progress, message: plain } };
}

interface Target {
  readonly events: EventSelection;
  push(event: RuntimeEvent): void;
  end(): void;
}

class Audience {
  readonly #targets = new Set<Target>();
  #wantingAll = 0;

  get isEmpty(): boolean {
    return this.#targets.size === 0;
  }

  hears(selection: EventSelection): boolean {
    return selection === 'all' ? this.#wantingAll > 0 : this.#targets.size > 0;
  }

  add(target: Target): void {
    this.#targets.add(target);
    if (target.events === 'all') this.#wantingAll += 1;
  }

  remove(target: Target): void {
    if (this.#targets.delete(target) && target.events === 'all') this.#wantingAll -= 1;
  }

  tell(event: RuntimeEvent): void {
    const isStatus = event.message.event === STATUS_EVENT;
    for (const target of this.#targets) {
      if (isStatus && target.events !== 'all') continue;
      try {
        target.push(event);
      } catch {
        // A listener must not throw. One that does hears no more, and the call it heard of goes on.
        target.end();
      }
    }
  }

  end(): void {
    for (const target of [...this.#targets]) target.end();
  }
}

function audienceOf(sessions: Map<string, Audience>, sessionId: string): Audience {
  const known = sessions.get(sessionId);
  if (known !== undefined) return known;
  const made = new Audience();
  sessions.set(sessionId, made);
  return made;
}

/**
 * One reader of events with a bounded buffer.
 *
 * A slow one loses its oldest events and learns how many from an `EventsMissed` message; memory does not grow, and no
 * call waits for it.
 */
class EventListener implements AsyncIterableIterator<RuntimeEvent> {
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

/** Sequences go as a whole, or their parameters would be left behind as text. */
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?/g;
const LAYOUT = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/**
 * Output of programs, tools and servers as one line for people: colours and other terminal sequences are removed, line
 * breaks become spaces, and what is left is made safe. For messages only; contents and output are passed on unchanged.
 */
export function plainMessage(text: string): string {
  const plain = text.replace(SEQUENCES, '').replace(LAYOUT, ' ');
  return safeText(plain, plain.length);
}
