/**
 * Envelopes in, envelopes out, for one connection that stays open.
 *
 * Every request gets exactly one terminal message, and none of its events comes after it. Sessions outlive the
 * connection: calls that have begun run on when it drops, unless it says otherwise.
 */
import {
  type BatchRequest,
  type ChildEnd,
  type ChildOpen,
  type ErrorMessage,
  parseClientMessage,
  type SessionAttach,
  type ToolRequest,
} from '@tool-runtime/protocol';
import type { Reach } from '../sessions/reach.ts';
import { errorAnswer } from '../sessions/refusals.ts';
import type { EventDetail, ServedSession } from '../sessions/served-session.ts';
import { dispatch, isCall, reply } from './dispatch.ts';
import { resumeOrder } from './resume.ts';
import { type LinkOutput, SessionLink } from './session-link.ts';

export interface ConnectionOptions {
  readonly maxBytes: number;
  /** Of own calls: their progress, or every change of their status too. */
  readonly events: EventDetail;
  readonly serverVersion: string;
  readonly send: (text: string) => void;
  readonly isCongested?: () => boolean;
  readonly onMissed?: () => void;
  /** Nothing to wait for, or a promise of the moment when the client has read what it was sent: calls wait for it. */
  readonly room?: () => Promise<void> | undefined;
  /** Whether the client has left, before `close` is called. */
  readonly isGone?: () => boolean;
  /** What unanswered requests may weigh together before `place` makes a transport wait. */
  readonly maxHeldBytes?: number;
}

/** Thousands of small requests or a few of the largest: enough that a cancel is still read behind them. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Roughly what a request holds in addition to its text. */
const REQUEST_BYTES = 8 * 1024;

/** There is never room for a client that is gone: none of its calls begins any more. */
const NEVER = new Promise<void>(() => {});

export class Connection {
  readonly #reach: Reach;
  readonly #options: ConnectionOptions;
  readonly #output: Omit<LinkOutput, 'onEnd'>;
  readonly #links = new Map<string, SessionLink>();
  readonly #answers = new Set<Promise<void>>();
  readonly #held: HeldBytes;
  #isClosed = false;

  constructor(reach: Reach, options: ConnectionOptions) {
    this.#reach = reach;
    this.#options = options;
    const { send, isCongested = () => false, onMissed = () => {} } = options;
    this.#output = { send, isCongested, onMissed };
    this.#held = new HeldBytes(options.maxHeldBytes ?? MAX_HELD_BYTES);
  }

  /** How many requests have no answer yet. */
  get inFlight(): number {
    return this.#answers.size;
  }

  /** One message as it came off the wire. Never throws; answers go to `send`. */
  receive(text: string): void {
    const parsed = parseClientMessage(text, { maxBytes: this.#options.maxBytes });
    if (!parsed.ok) this.refuse(parsed.error);
    else if (isCall(parsed.message)) this.#start(parsed.message, text.length);
    else if (parsed.message.type === 'SessionAttach') this.#join(parsed.message);
    else if (isAboutChild(parsed.message)) this.#await(this.#askForChild(parsed.message), text.length + REQUEST_BYTES);
    else void this.#answer(dispatch(parsed.message, this.#reach));
  }

  /** Refuses one message the transport could not even read, such as a line over the limit. */
  refuse(error: ErrorMessage): void {
    // An unreadable cancel names the request it is about; its refusal must not pass for that request's answer.
    const isOfAnother = error.request_id !== null && this.#isAwaited(error.request_id);
    this.#output.send(JSON.stringify(isOfAnother ? { ...error, request_id: null } : error));
  }

  /** Nothing to wait for, or a promise of the moment when unanswered requests weigh less than the limit again. */
  place(): Promise<void> | undefined {
    return this.#held.place();
  }

  /** Resolves when every request so far has its answer. */
  async drain(): Promise<void> {
    while (this.#answers.size > 0) await Promise.all(this.#answers);
  }

  /** Cancels what this connection started. */
  cancelAll(): void {
    for (const { served, requests } of this.#links.values()) for (const id of requests) served.cancel(id);
  }

  /** Greets with the session this connection was opened for, and counts as one of its connections from then on. */
  greet(served: ServedSession): void {
    this.#linkTo(served);
    this.#acknowledge(served);
  }

  /** A sign of life to the client, for each of its sessions. */
  beat(): void {
    const timestamp = Math.floor(this.#reach.now() / 1000);
    for (const id of this.#links.keys()) {
      this.#output.send(reply({ type: 'Heartbeat', session_id: id, timestamp }).text);
    }
  }

  /** Stops forwarding. Calls that have begun go on, in case the client comes back; the others are dropped. */
  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.leave();
    this.#dropWaiting();
  }

  #dropWaiting(): void {
    for (const { served, requests } of this.#links.values()) void served.drop(requests);
  }

  #linkTo(served: ServedSession): SessionLink {
    const known = this.#links.get(served.id);
    if (known !== undefined) return known;
    const link = new SessionLink(served, this.#options.events, {
      ...this.#output,
      onEnd: () => this.#links.delete(served.id),
    });
    if (this.#isClosed) link.leave();
    this.#links.set(served.id, link);
    return link;
  }

  #isAwaited(requestId: string): boolean {
    for (const { requests } of this.#links.values()) if (requests.has(requestId)) return true;
    return false;
  }

  async #answer(answer: ReturnType<typeof dispatch>): Promise<void> {
    const ready = answer instanceof Promise ? await answer : answer;
    if (ready !== undefined) this.#output.send(ready.text);
  }

  /** A child that was opened here has this connection from its first moment on. */
  async #askForChild(message: ChildOpen | ChildEnd): Promise<void> {
    const answer = await dispatch(message, this.#reach);
    if (answer?.message.type === 'ChildAck') this.#hold(answer.message.session_id);
    if (answer !== undefined) this.#output.send(answer.text);
  }

  #hold(childId: string): void {
    try {
      this.#linkTo(this.#reach.session(childId));
    } catch {
      // It ended with its parent while it was being opened; calls in its name are refused.
    }
  }

  #start(request: ToolRequest | BatchRequest, textLength: number): void {
    const ids = idsOf(request);
    const bytes = textLength + REQUEST_BYTES * ids.length;
    let isStarted = false;
    const answer = dispatch(request, this.#reach, (served) => {
      isStarted = true;
      const link = this.#linkTo(served);
      const finishes = ids.map((id) => this.#expect(link, id));
      const onAnswer = ({ text }: { readonly text: string }): void => {
        for (const finish of finishes) finish();
        this.#output.send(text);
      };
      return { room: () => this.#room(), onAnswer };
    });
    if (this.#isClosed) this.#dropWaiting();
    if (answer instanceof Promise && isStarted) this.#await(answer, bytes);
    else void this.#answer(answer);
  }

  #room(): Promise<void> | undefined {
    const { room, isGone } = this.#options;
    return this.#isClosed || isGone?.() === true ? NEVER : room?.();
  }

  /** From now on the events of the request go out here, until the returned function is called. */
  #expect({ requests }: SessionLink, requestId: string): () => void {
    // The refusal of a reused id must not end the events of the call it collides with.
    if (requests.has(requestId)) return () => {};
    requests.add(requestId);
    return () => requests.delete(requestId);
  }

  /** The answer of a call that was started elsewhere. */
  #follow(answer: Promise<{ readonly text: string }>, finish: () => void): void {
    const sent = answer.then(({ text }) => {
      finish();
      this.#output.send(text);
    });
    this.#await(sent, REQUEST_BYTES);
  }

  #await(answer: Promise<unknown>, bytes: number): void {
    this.#held.add(bytes);
    const done = answer.then(() => {
      this.#answers.delete(done);
      this.#held.add(-bytes);
    });
    this.#answers.add(done);
  }

  #join(attach: SessionAttach): void {
    let served: ServedSession;
    try {
      served = this.#reach.session(attach.session_id);
      served.beat();
    } catch (thrown) {
      this.#output.send(JSON.stringify(errorAnswer(thrown, null)));
      return;
    }
    const link = this.#linkTo(served);
    link.join(attach.events ?? 'progress');
    this.#acknowledge(served);
    const { texts, awaited } = resumeOrder(served, attach, link.requests);
    for (const text of texts) this.#output.send(text);
    for (const [requestId, answer] of awaited) this.#follow(answer, this.#expect(link, requestId));
  }

  #acknowledge(served: ServedSession): void {
    const ack = reply({
      type: 'SessionAck',
      session_id: served.id,
      accepted: true,
      server_version: this.#options.serverVersion,
      timestamp: Math.floor(this.#reach.now() / 1000),
    });
    this.#output.send(ack.text);
  }
}

/** The request's own, and those of the calls of a batch: their events go out too. */
function idsOf(request: ToolRequest | BatchRequest): readonly string[] {
  if (request.type === 'ToolRequest') return [request.request_id];
  return [request.request_id, ...request.calls.map(({ request_id }) => request_id)];
}

function isAboutChild(message: { readonly type: string }): message is ChildOpen | ChildEnd {
  return message.type === 'ChildOpen' || message.type === 'ChildEnd';
}

/** Weight of what a connection has under way; beyond the limit its transport stops reading. */
class HeldBytes {
  readonly #max: number;
  #bytes = 0;
  #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= this.#max) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Nothing to wait for, or a promise of the moment when there is room again. */
  place(): Promise<void> | undefined {
    if (this.#bytes < this.#max) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
