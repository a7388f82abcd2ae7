/**
 * What a host promises its clients, without its wires: sessions that outlive connections, one terminal message per
 * request, effects that are counted. The effect of a call is named by its argument `effect`.
 */
import type {
  BatchRequest,
  ChildEnd,
  ChildOpen,
  ClientMessage,
  ErrorMessage,
  EventMessage,
  JsonObject,
  ServerMessage,
  SessionAttach,
  ToolRequest,
  ToolResponse,
} from '@tool-runtime/protocol';
import { SAMPLES } from './sample-messages.ts';

type Terminal = ToolResponse | ErrorMessage;

export interface ModelPeer {
  receive(message: ClientMessage): void;
  leave(): void;
}

export interface ModelHostOptions {
  /** How many answers of a session are kept for those who come back. */
  readonly keptAnswers?: number;
  /** How long a call takes; the default is one turn of the event loop. */
  work?(request: ToolRequest): Promise<void>;
}

export class ModelSession {
  readonly id: string;
  readonly seen = new Set<string>();
  readonly running = new Map<string, Promise<Terminal>>();
  readonly answers = new Map<string, Terminal>();
  readonly events: EventMessage[] = [];
  readonly listeners = new Set<(event: EventMessage) => void>();
  readonly cancelled = new Set<string>();
  beats = 0;

  constructor(id: string) {
    this.id = id;
  }
}

export class ModelHost {
  readonly sessions = new Map<string, ModelSession>();
  readonly effects = new Map<string, number>();
  readonly received: ClientMessage[] = [];
  readonly #options: ModelHostOptions;
  readonly #keys = new Map<string, Terminal | 'running'>();
  #lastEventId = 0;
  #opened = 0;

  constructor(options: ModelHostOptions = {}) {
    this.#options = options;
  }

  openSession(): ModelSession {
    this.#opened += 1;
    const session = new ModelSession(`session-${this.#opened}`);
    this.sessions.set(session.id, session);
    return session;
  }

  countOf(effect: string): number {
    return this.effects.get(effect) ?? 0;
  }

  /** An event of the session, as if the host had news. */
  announce(session: ModelSession, event: string, requestId: string): void {
    this.#lastEventId += 1;
    const progress = { pct: 1, message: event };
    const id = this.#lastEventId;
    const message: EventMessage = {
      type: 'EventMessage',
      event,
      request_id: requestId,
      session_id: session.id,
      id,
      progress,
    };
    session.events.push(message);
    for (const listener of session.listeners) listener(message);
  }

  /** A connection. Without `greet` it says nothing of its own accord. */
  connect(send: (message: ServerMessage) => void, greet?: ModelSession): ModelPeer {
    const leaves: (() => void)[] = [];
    const join = (session: ModelSession): void => {
      session.listeners.add(send);
      leaves.push(() => session.listeners.delete(send));
    };
    if (greet !== undefined) {
      join(greet);
      send(ackOf(greet));
    }
    return {
      receive: (message) => {
        this.received.push(message);
        this.#receive(message, send, join);
      },
      leave: () => {
        for (const leave of leaves) leave();
      },
    };
  }

  /** What became of a request: its answer, a promise of it, or why there is none. */
  stateOf(session: ModelSession, requestId: string): Terminal | Promise<Terminal> {
    const running = session.running.get(requestId) ?? session.answers.get(requestId);
    if (running !== undefined) return running;
    return refusal(requestId, 'E_INTERNAL', session.seen.has(requestId) ? 'answer_gone' : 'never_received');
  }

  async start(request: ToolRequest): Promise<Terminal> {
    const session = this.sessions.get(request.session_id);
    if (session === undefined) return refusal(request.request_id, 'E_POLICY', 'unknown_session');
    const { request_id, idempotency_key } = request;
    if (session.seen.has(request_id) && idempotency_key === undefined) {
      return refusal(request_id, 'E_VALIDATION_FAIL', 'request_id_reused');
    }
    session.seen.add(request_id);
    const answer = this.#run(request, session);
    if (session.running.has(request_id)) return answer;
    session.running.set(request_id, answer);
    const terminal = await answer;
    session.running.delete(request_id);
    this.#keep(session, terminal);
    return terminal;
  }

  #receive(
    message: ClientMessage,
    send: (message: ServerMessage) => void,
    join: (session: ModelSession) => void,
  ): void {
    if (message.type === 'ToolRequest') {
      void this.start(message).then(send);
      return;
    }
    if (message.type === 'BatchRequest') {
      void this.#runBatch(message).then(send);
      return;
    }
    if (message.type === 'ApprovalAnswer') return;
    if (message.type === 'ChildOpen' || message.type === 'ChildEnd') {
      send(this.#answerChild(message));
      return;
    }
    const session = this.sessions.get(message.session_id);
    if (session === undefined) send(refusal(null, 'E_POLICY', 'unknown_session'));
    else if (message.type === 'CancelRequest') session.cancelled.add(message.request_id);
    else if (message.type === 'Heartbeat') {
      session.beats += 1;
      send({ ...message, timestamp: 1 });
    } else this.#attach(session, message, send, join);
  }

  async #runBatch({ request_id, calls, session_id, timestamp }: BatchRequest): Promise<ServerMessage> {
    const responses = calls.map((call) => this.start({ type: 'ToolRequest', session_id, timestamp, ...call }));
    return { type: 'BatchResponse', request_id, responses: await Promise.all(responses) };
  }

  /** Children of a model have no tools: what matters is that each message has one answer. */
  #answerChild({ type, request_id, session_id }: ChildOpen | ChildEnd): ServerMessage {
    if (!this.sessions.has(session_id)) return refusal(request_id, 'E_POLICY', 'unknown_session');
    if (type === 'ChildOpen') return { ...SAMPLES.ChildAck, request_id, session_id: `${session_id}/child` };
    return { ...SAMPLES.ChildEnded, request_id, session_id };
  }

  #attach(
    session: ModelSession,
    { after, pending = [] }: SessionAttach,
    send: (message: ServerMessage) => void,
    join: (session: ModelSession) => void,
  ): void {
    send(ackOf(session));
    if (after !== undefined) for (const event of session.events) if ((event.id ?? 0) > after) send(event);
    for (const requestId of pending) {
      const state = this.stateOf(session, requestId);
      if (state instanceof Promise) void state.then(send);
      else send(state);
    }
    join(session);
  }

  async #run(request: ToolRequest, session: ModelSession): Promise<Terminal> {
    const key = request.idempotency_key;
    const known = key === undefined ? undefined : this.#keys.get(key);
    if (known === 'running') return keyRefusal(request);
    if (known !== undefined) return { ...known, request_id: request.request_id };
    if (key !== undefined) this.#keys.set(key, 'running');
    const { effect } = request.args as { readonly effect?: string };
    if (effect !== undefined) this.effects.set(effect, this.countOf(effect) + 1);
    this.announce(session, 'TaskProgress', request.request_id);
    await (this.#options.work?.(request) ?? new Promise((resolve) => setImmediate(resolve)));
    const answer = session.cancelled.has(request.request_id)
      ? refusal(request.request_id, 'E_INTERNAL', 'cancelled')
      : responseTo(request, request.args);
    if (key !== undefined) this.#keys.set(key, answer);
    return answer;
  }

  #keep(session: ModelSession, terminal: Terminal): void {
    if (terminal.request_id === null) return;
    session.answers.set(terminal.request_id, terminal);
    for (const oldest of session.answers.keys()) {
      if (session.answers.size <= (this.#options.keptAnswers ?? 1000)) break;
      session.answers.delete(oldest);
    }
  }
}

export function responseTo({ tool, request_id }: ToolRequest, data: JsonObject): ToolResponse {
  return { type: 'ToolResponse', ok: true, tool, request_id, duration_ms: 1, data, errors: [], warnings: [] };
}

export function refusal(requestId: string | null, code: ErrorMessage['code'], reason: string): ErrorMessage {
  return { type: 'ErrorMessage', code, message: `Refused: ${reason}`, request_id: requestId, details: { reason } };
}

export function ackOf(session: { readonly id: string }): ServerMessage {
  return { type: 'SessionAck', session_id: session.id, accepted: true, server_version: '0.0.0', timestamp: 1 };
}

function keyRefusal({ tool, request_id }: ToolRequest): ToolResponse {
  const details = { gate: 'idempotency', reason: 'outcome_unknown' };
  return {
    ...responseTo({ tool, request_id } as ToolRequest, {}),
    ok: false,
    data: null,
    errors: [{ code: 'E_POLICY', message: 'A call with this key has no known outcome yet', details }],
  };
}
