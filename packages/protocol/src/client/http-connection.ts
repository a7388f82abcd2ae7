/**
 * A connection made of single HTTP requests: one POST per message, answers as they come back.
 *
 * `send` of a call resolves with its answer, so a throw means that the answer was lost on the way. Events come over a
 * second, streaming request that is opened when they are wanted. SessionAttach never goes out as such: it is turned
 * into what HTTP has for it, the stream of events and a look for the answer of each pending request.
 */
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { BatchRequest } from '../envelopes/from-client/batch-request.ts';
import type { ChildEnd } from '../envelopes/from-client/child-end.ts';
import type { ChildOpen } from '../envelopes/from-client/child-open.ts';
import type { SessionAttach } from '../envelopes/from-client/session-attach.ts';
import type { ToolRequest } from '../envelopes/from-client/tool-request.ts';
import type { SessionAck } from '../envelopes/from-host/session-ack.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { Backoff, pause } from './backoff.ts';
import type { Connection } from './connection.ts';
import { fromErrorMessage, isFinal, reasonOf } from './error-messages.ts';
import { EventFeed } from './event-feed.ts';
import { badAnswer, HostWire, type HostWireOptions, isSuccess, readRefusal, type WireAnswer } from './host-wire.ts';
import { MessageQueue } from './message-queue.ts';
import { readServerMessage } from './read-server-message.ts';

export interface HttpConnectionOptions extends HostWireOptions {
  /** As `openSession` gave it. The connection then begins with its SessionAck, as the others do. */
  readonly session?: { readonly session_id: string; readonly server_version: string };
}

export function httpConnection(options: HttpConnectionOptions): Connection {
  return new HttpConnection(options);
}

interface FeedWish {
  readonly sessionId: string;
  readonly events: 'progress' | 'all';
  readonly after: number | undefined;
}

class HttpConnection implements Connection {
  readonly greets: boolean;
  readonly #wire: HostWire;
  readonly #serverVersion: string;
  readonly #messages = new MessageQueue<ServerMessage>();
  readonly #closing = new AbortController();
  #feed: EventFeed | undefined;
  #wanted: Promise<void> | undefined;

  constructor(options: HttpConnectionOptions) {
    const { session } = options;
    this.#wire = new HostWire(options);
    this.#serverVersion = session?.server_version ?? 'unknown';
    this.greets = session !== undefined;
    if (session !== undefined) this.#acknowledge(session.session_id);
  }

  messages(): AsyncIterable<ServerMessage> {
    return this.#messages;
  }

  close(): void {
    this.#closing.abort();
    this.#feed?.stop();
    this.#messages.end();
  }

  async send(message: ClientMessage): Promise<void> {
    if (message.type === 'SessionAttach') return this.#attach(message);
    const { signal } = this.#closing;
    const answer = await this.#wire.ask('POST', '/v1/call', { body: message, signal });
    const requestId = hasAnswer(message) ? message.request_id : null;
    if (!isSuccess(answer.status)) this.#messages.push({ ...readRefusal(answer), request_id: requestId });
    else if (requestId !== null) this.#messages.push(readAnswer(answer, requestId));
    else if (message.type === 'Heartbeat') this.#messages.push(readServerMessage(answer.text));
  }

  wantEvents(sessionId: string): Promise<void> {
    this.#wanted ??= this.#startFeed(sessionId);
    return this.#wanted;
  }

  async #attach({ session_id, after, pending = [], events }: SessionAttach): Promise<void> {
    const acknowledge = (): void => this.#acknowledge(session_id);
    if (events === undefined) acknowledge();
    else await this.#follow({ sessionId: session_id, events, after }, acknowledge);
    for (const requestId of pending) void this.#recover(session_id, requestId);
  }

  async #startFeed(sessionId: string): Promise<void> {
    if (this.#feed !== undefined) return;
    try {
      await this.#follow({ sessionId, events: 'progress', after: undefined }, () => undefined);
    } catch (thrown) {
      this.#feed = undefined;
      this.#wanted = undefined;
      throw thrown;
    }
  }

  async #follow(wish: FeedWish, onOpen: () => void): Promise<void> {
    const previous = this.#feed;
    const feed = new EventFeed({
      path: `/v1/events?${new URLSearchParams({ session_id: wish.sessionId, events: wish.events })}`,
      wire: this.#wire,
      after: wish.after ?? previous?.after,
      deliver: (message) => this.#messages.push(message),
    });
    this.#feed = feed;
    previous?.stop();
    await feed.start(onOpen);
  }

  #acknowledge(sessionId: string): void {
    const ack: SessionAck = {
      type: 'SessionAck',
      session_id: sessionId,
      accepted: true,
      server_version: this.#serverVersion,
      timestamp: Math.floor(Date.now() / 1000),
    };
    this.#messages.push(ack);
  }

  /** Asks for the answer of a request until there is one, or until it is clear that there will be none. */
  async #recover(sessionId: string, requestId: string): Promise<void> {
    const { signal } = this.#closing;
    const path = `/v1/sessions/${encodeURIComponent(sessionId)}/calls/${encodeURIComponent(requestId)}`;
    const backoff = new Backoff({ minDelayMs: 50, maxDelayMs: 2000 });
    try {
      while (!signal.aborted) {
        const answer = await this.#wire.ask('GET', path, { signal });
        const message = readState(answer, requestId);
        if (message !== undefined) return this.#messages.push(message);
        await pause(Math.max(backoff.next(), answer.retryAfterMs ?? 0), signal);
      }
    } catch (thrown) {
      // The wire is broken, or something that is no host answers: the whole connection is of no use.
      this.#messages.end(thrown);
    }
  }
}

/** The others are answered by what needs no addressee, or not at all. */
function hasAnswer(message: ClientMessage): message is ToolRequest | BatchRequest | ChildOpen | ChildEnd {
  return ASKS.has(message.type);
}

const ASKS: ReadonlySet<ClientMessage['type']> = new Set(['ToolRequest', 'BatchRequest', 'ChildOpen', 'ChildEnd']);

const ANSWERS: ReadonlySet<ServerMessage['type']> = new Set([
  'ToolResponse',
  'BatchResponse',
  'ErrorMessage',
  'ChildAck',
  'ChildEnded',
]);

function readAnswer(answer: WireAnswer, requestId: string): ServerMessage {
  const message = readServerMessage(answer.text);
  const isAnswer = ANSWERS.has(message.type) && 'request_id' in message && message.request_id === requestId;
  if (!isAnswer) throw badAnswer(answer.status);
  return message;
}

/** Undefined while the call runs, or while the host is too busy to say. */
function readState(answer: WireAnswer, requestId: string): ServerMessage | undefined {
  if (answer.status === 202) return undefined;
  if (isSuccess(answer.status)) return readAnswer(answer, requestId);
  const refusal = readRefusal(answer);
  const reason = reasonOf(refusal.details);
  if (reason === 'never_received' || reason === 'answer_gone') return { ...refusal, request_id: requestId };
  return isFinal(fromErrorMessage(refusal)) ? { ...refusal, request_id: null } : undefined;
}
