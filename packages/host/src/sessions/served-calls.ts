/** The calls of a session that have no answer yet: started in their turn, found by id, cancelled, or dropped with their client. */
import { type ErrorMessage, ToolError, type ToolRequest, type ToolResponse } from '@tool-runtime/protocol';
import { type CallOptions, FairSlots, type Session } from '@tool-runtime/sdk';
import type { AnswerStore } from './kept-messages.ts';
import { errorAnswer, neverReceived } from './refusals.ts';
import { type Place, placeFor, type Questions, type SameTurn, type Turn } from './take-turn.ts';

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

/** Calls without an answer, but for those that wait for a person. */
export interface Work {
  readonly running: number;
  /** For their turn. */
  readonly waiting: number;
}

export interface ServedCallsOptions {
  /** How many of its calls the session runs at once. */
  readonly maxInFlight?: number;
  readonly slots?: FairSlots;
  /** Shared by all sessions of a host. */
  readonly turns?: SameTurn;
  readonly questions?: Questions;
  readonly answers?: AnswerStore;
}

interface Running {
  readonly controller: AbortController;
  readonly answer: Promise<Answer>;
  readonly place: Place;
  isDropped: boolean;
}

/** Each costs a record of its end. */
const DROPPED_AT_ONCE = 32;

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

export class ServedCalls {
  readonly #session: Session;
  readonly #options: ServedCallsOptions;
  readonly #window: FairSlots | undefined;
  /** By request id. A repeated id is refused by the session and is not among them. */
  readonly #running = new Map<string, Running>();
  readonly #unanswered = new Set<Running>();

  constructor(session: Session, options: ServedCallsOptions) {
    this.#session = session;
    this.#options = options;
    this.#window = options.maxInFlight === undefined ? undefined : new FairSlots(options.maxInFlight);
  }

  /** How many have no answer. */
  get size(): number {
    return this.#unanswered.size;
  }

  get work(): Work {
    const counts = { running: 0, waiting: 0, asking: 0 };
    for (const { place } of this.#unanswered) counts[place.phase] += 1;
    return counts;
  }

  answerOf(requestId: string): Promise<Answer> | undefined {
    return this.#running.get(requestId)?.answer;
  }

  cancel(requestId: string): void {
    this.#running.get(requestId)?.controller.abort();
  }

  /** Never rejects. */
  async start(request: ToolRequest, starting: StartOptions = {}): Promise<Answer> {
    const { request_id: id } = request;
    const isRepeated = this.#session.hasSeen(id);
    const call = this.#begin(request, starting);
    // A reused id is refused by the session; it must not take over the handle of the call it collides with.
    const isFirst = !this.#running.has(id);
    if (isFirst) this.#running.set(id, call);
    this.#unanswered.add(call);
    const answered = await call.answer;
    this.#unanswered.delete(call);
    if (isFirst) this.#running.delete(id);
    // The refusal of a repeated id must not take the place of the answer it was refused for.
    const isOwn = isFirst && (!isRepeated || answered.message.type === 'ToolResponse');
    if (isOwn && !call.isDropped && starting.isFleeting !== true) {
      this.#options.answers?.keep(this.#session.id, id, answered.text);
    }
    return answered;
  }

  /** A few in each turn of the event loop, so that the backlog of one client does not delay others. */
  async drop(requestIds: Iterable<string>): Promise<void> {
    let count = 0;
    for (const id of [...requestIds]) {
      const call = this.#running.get(id);
      if (call?.place.phase !== 'waiting') continue;
      call.isDropped = true;
      call.controller.abort(dropped());
      if (++count % DROPPED_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #begin(request: ToolRequest, starting: StartOptions): Running {
    const { slots, turns, questions } = this.#options;
    const { room, askClient } = starting;
    const controller = new AbortController();
    const place = placeFor({ window: this.#window, slots, turns, questions, room, sessionId: this.#session.id });
    const options = { signal: controller.signal, turn: place.turn };
    const handling = this.#session.handle(request, askClient === undefined ? options : { ...options, askClient });
    const entry = { controller, place, isDropped: false };
    const answer = handling.then((message) => {
      const given = new WrittenAnswer(entry.isDropped ? this.#forget(request.request_id) : message);
      // Before the next call is let in, so that it sees whether the client reads.
      starting.onAnswer?.(given);
      place.leave();
      return given;
    });
    return Object.assign(entry, { answer });
  }

  /** As if the request had never come: a client that returns sends it again. */
  #forget(requestId: string): ErrorMessage {
    this.#session.forget(requestId);
    return errorAnswer(neverReceived(), requestId);
  }
}

function dropped(): ToolError {
  return new ToolError('E_INTERNAL', 'Call was dropped: its connection closed before it began', {
    details: { reason: 'cancelled', gate: 'connection' },
  });
}
