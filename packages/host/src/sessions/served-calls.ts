/**
 * The calls of a session that have no answer yet: started in their turn, found by id, cancelled, or dropped with their
 * client.
 */
import {
  type BatchRequest,
  type BatchResponse,
  type ErrorMessage,
  ToolError,
  type ToolRequest,
  type ToolResponse,
} from '@tool-runtime/protocol';
import { type CallOptions, FairSlots, type HandleOptions, type Session } from '@tool-runtime/sdk';
import type { AnswerStore } from './kept-messages.ts';
import { errorAnswer, neverReceived } from './refusals.ts';
import { Place, type Questions, type Turn } from './take-turn.ts';

export type Terminal = ToolResponse | BatchResponse | ErrorMessage;

export interface Answer<Message extends Terminal = Terminal> {
  readonly message: Message;
  /** The message as it goes over the wire. */
  readonly text: string;
}

/** Of a single call. */
export type CallAnswer = Answer<ToolResponse | ErrorMessage>;

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
  readonly questions?: Questions;
  readonly answers?: AnswerStore;
  /** Shared by all sessions of a workspace. */
  readonly gate?: CallGate;
}

/** How many calls of a workspace have no answer yet, and how many there may be. */
export interface CallGate {
  size: number;
  readonly limit: number;
}

const BUSY_RETRY_MS = 1000;

interface Running {
  /** Undefined for a request that is no call. */
  cancel: ((reason?: ToolError) => void) | undefined;
  answer: Promise<Answer>;
  readonly place: Place;
  isDropped: boolean;
  /** Calls of a batch are not dropped one by one. */
  readonly isMember?: boolean;
}

/** In place of an answer that was given. */
const GONE = new Promise<never>(() => {});

/** Each costs a record of its end. */
const DROPPED_AT_ONCE = 32;

/** Serialized once, on first use. */
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
    this.#running.get(requestId)?.cancel?.();
  }

  /** Never rejects. */
  start(request: ToolRequest, starting: StartOptions = {}): Promise<CallAnswer> {
    return this.#follow(request.request_id, starting, () => this.#begin(request, starting)) as Promise<CallAnswer>;
  }

  /**
   * Never rejects. The batch waits for a client that reads, its calls for their turns. Once it has begun it runs to its
   * end, also when the client leaves.
   */
  startBatch(request: BatchRequest, starting: StartOptions = {}): Promise<Answer> {
    return this.#follow(request.request_id, starting, () => this.#beginBatch(request, starting));
  }

  async #follow(id: string, starting: StartOptions, begin: () => Running): Promise<Answer> {
    const { gate } = this.#options;
    if (gate !== undefined && gate.size >= gate.limit) {
      const refused = new WrittenAnswer(errorAnswer(busy(gate.limit), id));
      starting.onAnswer?.(refused);
      return refused;
    }
    if (gate !== undefined) gate.size += 1;
    try {
      return await this.#followBegun(id, starting, begin);
    } finally {
      if (gate !== undefined) gate.size -= 1;
    }
  }

  async #followBegun(id: string, starting: StartOptions, begin: () => Running): Promise<Answer> {
    const isRepeated = this.#session.hasSeen(id);
    const call = begin();
    // A reused id is refused by the session; it must not take over the handle of the call it collides with.
    const isFirst = !this.#running.has(id);
    if (isFirst) this.#running.set(id, call);
    this.#unanswered.add(call);
    const answered = await call.answer;
    this.#unanswered.delete(call);
    if (isFirst) this.#running.delete(id);
    // A map that was rebuilt refers to the one before it, so what has left must hold on to nothing.
    call.cancel = undefined;
    call.answer = GONE;
    // The refusal of a repeated id must not take the place of the answer it was refused for.
    const isOwn = isFirst && (!isRepeated || answered.message.type !== 'ErrorMessage');
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
      if (call?.place.phase !== 'waiting' || call.isMember === true) continue;
      call.isDropped = true;
      call.cancel?.(dropped());
      if (++count % DROPPED_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #begin(request: ToolRequest, starting: StartOptions): Running {
    const { slots, questions } = this.#options;
    const { room, askClient } = starting;
    const place = new Place({ window: this.#window, slots, questions, room, sessionId: this.#session.id });
    const entry: Omit<Running, 'answer'> = { cancel: undefined, place, isDropped: false };
    const onOpen: HandleOptions['onOpen'] = (cancel) => {
      entry.cancel = cancel;
    };
    const options = { onOpen, turn: place };
    const handling = this.#session.handle(request, askClient === undefined ? options : { ...options, askClient });
    const answer = handling.then((message) => {
      const given = new WrittenAnswer(entry.isDropped ? this.#forget(request.request_id) : message);
      // Before the next call is let in, so that it sees whether the client reads.
      starting.onAnswer?.(given);
      place.leave();
      return given;
    });
    return Object.assign(entry, { answer });
  }

  #beginBatch(request: BatchRequest, { room, askClient, onAnswer }: StartOptions): Running {
    const { slots, questions } = this.#options;
    const { id: sessionId } = this.#session;
    const controller = new AbortController();
    const nothing = { window: undefined, slots: undefined, questions: undefined };
    const place = new Place({ ...nothing, room, sessionId });
    const entry = { cancel: (reason?: ToolError) => controller.abort(reason), place, isDropped: false };
    const run = async (): Promise<Terminal> => {
      await place.take(() => controller.signal);
      if (entry.isDropped) return errorAnswer(neverReceived(), request.request_id);
      const members = new Map<string, Running & { readonly stop: AbortController }>();
      for (const { request_id: id } of request.calls) {
        const own = new Place({ window: this.#window, slots, questions, room: undefined, sessionId });
        // A signal, because it may be cancelled long before it opens.
        const stop = new AbortController();
        const cancel = (reason?: ToolError) => stop.abort(reason);
        const member = { cancel, stop, place: own, answer, isDropped: false, isMember: true };
        if (members.has(id) || this.#running.has(id)) continue;
        members.set(id, member);
        this.#running.set(id, member);
        this.#unanswered.add(member);
      }
      const message = await this.#session.handleBatch(request, {
        handleCall: async (id, handle) => {
          const member = members.get(id);
          // Its id is in use: the session refuses it.
          if (member === undefined) return handle({ signal: controller.signal });
          const signal = AbortSignal.any([member.stop.signal, controller.signal]);
          const options = { signal, turn: member.place };
          return handle(askClient === undefined ? options : { ...options, askClient }).finally(() =>
            this.#leave(id, member),
          );
        },
      });
      // Those that were never begun, because the batch was refused.
      for (const [id, member] of members) this.#leave(id, member);
      return message.type === 'BatchResponse' ? withinSize(message) : message;
    };
    const answer = run().then((message): Answer => {
      const given = new WrittenAnswer(message);
      onAnswer?.(given);
      place.leave();
      return given;
    });
    return Object.assign(entry, { answer });
  }

  #leave(requestId: string, member: Running): void {
    member.place.leave();
    this.#unanswered.delete(member);
    if (this.#running.get(requestId) === member) this.#running.delete(requestId);
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

/** Clients read 64 MiB; a character takes at most three bytes. */
const MAX_CHARACTERS = 20 * 1024 * 1024;

/**
 * Keeps the answer of a batch within what clients read in one message.
 *
 * Responses that do not fit are replaced by a refusal that says so; their calls have run.
 */
export function withinSize(batch: BatchResponse, maxCharacters: number = MAX_CHARACTERS): BatchResponse {
  let left = maxCharacters;
  let isChanged = false;
  const responses = batch.responses.map((response) => {
    const { length } = JSON.stringify(response);
    if (length <= left || response.type === 'ErrorMessage') {
      left -= length;
      return response;
    }
    isChanged = true;
    return errorAnswer(tooLarge(response.ok), response.request_id);
  });
  return isChanged ? { ...batch, responses } : batch;
}

function tooLarge(ok: boolean): ToolError {
  return new ToolError('E_INTERNAL', 'Answer does not fit into the answer of its batch', {
    details: {
      reason: 'batch_too_large',
      ok,
      next: 'the call has run; repeat it alone if it only reads, or with its idempotency key, and send smaller batches',
    },
  });
}

function busy(limit: number): ToolError {
  return new ToolError('E_POLICY', `Workspace has as many calls as it takes: ${limit}`, {
    details: {
      gate: 'host',
      reason: 'busy',
      retry: 'retryable',
      limit,
      retry_after_ms: BUSY_RETRY_MS,
      next: 'send it again after that time',
    },
  });
}
