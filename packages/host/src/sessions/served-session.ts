/**
 * A session as connections see it. It outlives them: calls that have begun run on when a connection drops, and what it
 * missed (events, answers) waits a while for its return.
 */
import type { BatchRequest, EventMessage, ToolRequest } from '@tool-runtime/protocol';
import type { CloseOptions, RuntimeEvent, Session } from '@tool-runtime/sdk';
import { EventLog, type LoggedEvent } from './kept-messages.ts';
import {
  type Answer,
  type CallAnswer,
  ServedCalls,
  type ServedCallsOptions,
  type StartOptions,
  type Work,
} from './served-calls.ts';

export type EventDetail = 'progress' | 'all';

export interface ServedSession {
  readonly session: Session;
  readonly id: string;
  /** Calls without an answer. */
  readonly inFlight: number;
  readonly work: Work;
  readonly events: EventLog;
  /** Milliseconds (monotonic) of the last message, call or departure of a connection. */
  readonly lastSeen: number;
  /** Never rejects. */
  start(request: ToolRequest, options?: StartOptions): Promise<CallAnswer>;
  startBatch(request: BatchRequest, options?: StartOptions): Promise<Answer>;
  cancel(requestId: string): void;
  /**
   * Ends those of the requests that have not begun: their client is gone. They did not run and may be sent again under
   * the same ids. Those that have begun go on.
   */
  drop(requestIds: Iterable<string>): Promise<void>;
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

export interface ServedSessionOptions extends ServedCallsOptions {
  readonly keptEvents: number;
  readonly nextEventId: () => number;
  readonly now: () => number;
  /** Told of every event. */
  readonly onEvent?: (event: LoggedEvent) => void;
}

interface Listener {
  readonly detail: EventDetail;
  callback: (event: LoggedEvent) => void;
  onEnd: (() => void) | undefined;
}

function ignore(): void {}

export function serveSession(session: Session, options: ServedSessionOptions): ServedSession {
  const listeners = new Set<Listener>();
  const calls = new ServedCalls(session, options);
  const events = new EventLog(options.keptEvents);
  const life = { lastSeen: options.now(), isEnded: false, detail: 'progress' as EventDetail, wantAll: 0 };
  let stopListening = session.listen(log, { events: 'progress' });

  function log({ message }: Pick<RuntimeEvent, 'message'>): void {
    const id = options.nextEventId();
    const text = JSON.stringify({ ...message, session_id: session.id, id });
    const logged: LoggedEvent = { id, event: message.event, requestId: message.request_id, text };
    events.append(logged);
    options.onEvent?.(logged);
    for (const { detail, callback } of listeners) {
      if (detail === 'all' || message.event !== 'CallStatusChanged') callback(logged);
    }
  }

  /** Changes of status are many; they are built only while a listener wants them. */
  function adjustDetail(): void {
    const wanted: EventDetail = life.wantAll > 0 ? 'all' : 'progress';
    if (wanted === life.detail || life.isEnded) return;
    life.detail = wanted;
    stopListening();
    stopListening = session.listen(log, { events: wanted });
  }

  function touch(): void {
    life.lastSeen = options.now();
  }

  return {
    session,
    id: session.id,
    events,
    get inFlight() {
      return calls.size;
    },
    get work() {
      return calls.work;
    },
    get lastSeen() {
      return life.lastSeen;
    },
    get listeners() {
      return listeners.size;
    },
    start(request, starting) {
      touch();
      const answer = calls.start(request, starting);
      // Added first, so it runs before the caller gets the answer. Never rejects.
      void answer.then(touch);
      return answer;
    },
    async startBatch(request, starting) {
      touch();
      const answer = await calls.startBatch(request, starting);
      touch();
      return answer;
    },
    cancel: (requestId) => calls.cancel(requestId),
    drop: (requestIds) => calls.drop(requestIds),
    answerOf(requestId) {
      if (calls.answerOf(requestId) !== undefined) return 'running';
      const text = options.answers?.find(session.id, requestId);
      return text === undefined ? undefined : { text };
    },
    whenAnswered: (requestId) => calls.answerOf(requestId),
    beat() {
      session.heartbeat();
      touch();
    },
    listen(detail, callback, onEnd) {
      const listener: Listener = { detail, callback, onEnd };
      const count = (by: number): void => {
        if (detail !== 'all') return;
        life.wantAll += by;
        adjustDetail();
      };
      listeners.add(listener);
      count(1);
      return () => {
        if (!listeners.delete(listener)) return;
        // A set that was rebuilt refers to the one before it, so what has left must hold on to nothing.
        listener.callback = ignore;
        listener.onEnd = undefined;
        touch();
        count(-1);
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
