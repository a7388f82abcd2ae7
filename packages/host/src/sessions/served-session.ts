/**
 * A session as connections see it. It outlives them: calls run on when a connection drops, and what it missed (events,
 * answers) waits a while for its return.
 */
import {
  type ErrorMessage,
  type EventMessage,
  type ToolRequest,
  type ToolResponse,
  toToolError,
} from '@tool-runtime/protocol';
import { type CallOptions, type CloseOptions, FairSlots, type RuntimeEvent, type Session } from '@tool-runtime/sdk';
import type { AnswerStore } from './answer-store.ts';
import { EventLog, type LoggedEvent } from './event-log.ts';
import type { SameTurn } from './same-turn.ts';
import { placeFor, type Turn } from './take-turn.ts';

export type Terminal = ToolResponse | ErrorMessage;

export interface Answer {
  readonly message: Terminal;
  /** The message as it goes over the wire. */
  readonly text: string;
}

export interface StartOptions extends Pick<CallOptions, 'askClient'> {
  /** The answer is not kept for who comes back, because the way it came in has no coming back. */
  readonly isFleeting?: boolean;
  readonly room?: Turn['room'];
  /** Called with the answer as soon as there is one. */
  readonly onAnswer?: (answer: Answer) => void;
}

type HandedOptions = Pick<CallOptions, 'askClient'> & { readonly signal: AbortSignal };

/** Written out when somebody needs the text, once. */
class WrittenAnswer implements Answer {
  readonly message: Terminal;
  #text: string | undefined;

  constructor(message: Terminal) {
    this.message = message;
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.message);
    return this.#text;
  }
}

export type EventDetail = 'progress' | 'all';

export interface ServedSession {
  readonly session: Session;
  readonly id: string;
  readonly inFlight: number;
  readonly events: EventLog;
  /** Milliseconds (monotonic) of the last message, call or departure of a connection. */
  readonly lastSeen: number;
  /** Never rejects. */
  start(request: ToolRequest, options?: StartOptions): Promise<Answer>;
  cancel(requestId: string): void;
  /** `running`, the text of the answer, or undefined when it is unknown or no longer kept. */
  answerOf(requestId: string): 'running' | { readonly text: string } | undefined;
  /** The answer of a request that runs, for a connection that did not start it. */
  whenAnswered(requestId: string): Promise<Answer> | undefined;
  /** A sign of life. Throws ToolError when the session has ended. */
  beat(): void;
  /** Events as they happen, each before the answer of its request. Counts as a connection until it is undone. */
  listen(detail: EventDetail, callback: (event: LoggedEvent) => void, onEnd?: () => void): () => void;
  readonly listeners: number;
  close(options?: CloseOptions): Promise<void>;
}

export interface ServedSessionOptions {
  /** How many of its calls the session runs at once. */
  readonly maxInFlight?: number;
  readonly slots?: FairSlots;
  /** Shared by all sessions of a host. */
  readonly turns?: SameTurn;
  readonly answers?: AnswerStore;
  readonly keptEvents: number;
  readonly nextEventId: () => number;
  readonly now: () => number;
}

interface Listener {
  readonly detail: EventDetail;
  readonly callback: (event: LoggedEvent) => void;
  readonly onEnd: (() => void) | undefined;
}

interface Running {
  readonly controller: AbortController;
  readonly answer: Promise<Answer>;
}

export function serveSession(session: Session, options: ServedSessionOptions): ServedSession {
  const running = new Map<string, Running>();
  const listeners = new Set<Listener>();
  const { slots, turns } = options;
  const window = options.maxInFlight === undefined ? undefined : new FairSlots(options.maxInFlight);
  const events = new EventLog(options.keptEvents);
  const life = { lastSeen: options.now(), inFlight: 0, isEnded: false, detail: 'progress' as EventDetail };
  let stopListening = session.listen(log, { events: 'progress' });

  function log({ message }: Pick<RuntimeEvent, 'message'>): void {
    const id = options.nextEventId();
    const text = JSON.stringify({ ...message, session_id: session.id, id });
    const logged: LoggedEvent = { id, event: message.event, requestId: message.request_id, text };
    events.append(logged);
    for (const { detail, callback } of listeners) {
      if (detail === 'all' || message.event !== 'CallStatusChanged') callback(logged);
    }
  }

  /** Changes of status are many; they are made only while somebody wants them. */
  function adjustDetail(): void {
    const wanted: EventDetail = Array.from(listeners).some(({ detail }) => detail === 'all') ? 'all' : 'progress';
    if (wanted === life.detail || life.isEnded) return;
    life.detail = wanted;
    stopListening();
    stopListening = session.listen(log, { events: wanted });
  }

  async function run(request: ToolRequest, handed: HandedOptions, starting: StartOptions): Promise<Answer> {
    const place = placeFor({ window, slots, turns, room: starting.room, sessionId: session.id });
    const answer = new WrittenAnswer(await session.handle(request, { ...handed, turn: place.turn }));
    // Before the next call is let in, so that it sees whether the client reads.
    starting.onAnswer?.(answer);
    place.leave();
    return answer;
  }

  async function start(request: ToolRequest, starting: StartOptions = {}): Promise<Answer> {
    const { askClient, isFleeting } = starting;
    life.lastSeen = options.now();
    const controller = new AbortController();
    const isRepeated = session.hasSeen(request.request_id);
    const { signal } = controller;
    const answer = run(request, askClient === undefined ? { signal } : { signal, askClient }, starting);
    // A reused id is refused by the session; it must not take over the handle of the call it collides with.
    const isFirst = !running.has(request.request_id);
    if (isFirst) running.set(request.request_id, { controller, answer });
    life.inFlight += 1;
    const answered = await answer;
    life.inFlight -= 1;
    life.lastSeen = options.now();
    if (isFirst) {
      running.delete(request.request_id);
      // The refusal of a repeated id must not take the place of the answer it was refused for.
      if (isFleeting !== true && (!isRepeated || answered.message.type === 'ToolResponse')) {
        options.answers?.keep(session.id, request.request_id, answered.text);
      }
    }
    return answered;
  }

  return {
    session,
    id: session.id,
    events,
    get inFlight() {
      return life.inFlight;
    },
    get lastSeen() {
      return life.lastSeen;
    },
    get listeners() {
      return listeners.size;
    },
    start,
    cancel: (requestId) => running.get(requestId)?.controller.abort(),
    answerOf(requestId) {
      if (running.has(requestId)) return 'running';
      const text = options.answers?.find(session.id, requestId);
      return text === undefined ? undefined : { text };
    },
    whenAnswered: (requestId) => running.get(requestId)?.answer,
    beat() {
      session.heartbeat();
      life.lastSeen = options.now();
    },
    listen(detail, callback, onEnd) {
      const listener: Listener = { detail, callback, onEnd };
      listeners.add(listener);
      adjustDetail();
      return () => {
        if (!listeners.delete(listener)) return;
        life.lastSeen = options.now();
        adjustDetail();
      };
    },
    async close(closing) {
      await session.close(closing);
      stopListening();
      if (life.isEnded) return;
      life.isEnded = true;
      log({ message: endedEvent(session.id) });
      for (const { onEnd } of listeners) onEnd?.();
    },
  };
}

function endedEvent(sessionId: string): EventMessage {
  return {
    type: 'EventMessage',
    event: 'SessionEnded',
    request_id: sessionId,
    progress: { pct: 100, message: 'The session has ended' },
  };
}

export function errorAnswer(thrown: unknown, requestId: string | null): ErrorMessage {
  const { code, message, details, path } = toToolError(thrown);
  const all = { ...details, ...(path === undefined ? {} : { path }) };
  return {
    type: 'ErrorMessage',
    code,
    message,
    request_id: requestId,
    ...(Object.keys(all).length === 0 ? {} : { details: all }),
  };
}
