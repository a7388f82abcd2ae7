/**
 * The events of one session over HTTP, for as long as somebody wants them. A stream that breaks off is opened again
 * after the last event that was seen; only a refusal ends it.
 */
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { isToolError } from '../primitives/errors.ts';
import { Backoff } from './backoff.ts';
import { fromErrorMessage, isFinal, toErrorMessage } from './error-messages.ts';
import type { FetchAnswer } from './fetch-like.ts';
import { badAnswer, type HostWire, readRefusal } from './host-wire.ts';
import { pause } from './pause.ts';
import { MAX_MESSAGE_BYTES, readServerMessage } from './read-server-message.ts';
import { SseParser } from './sse-parser.ts';

export interface EventFeedOptions {
  readonly wire: HostWire;
  readonly sessionId: string;
  readonly events: 'progress' | 'all';
  readonly after: number | undefined;
  deliver(message: ServerMessage): void;
}

export class EventFeed {
  readonly #options: EventFeedOptions;
  readonly #stopping = new AbortController();
  #after: number | undefined;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#after = options.after;
  }

  /** The last event that was seen, if any. */
  get after(): number | undefined {
    return this.#after;
  }

  /** `onOpen` is called when the host has opened the stream, before its first event is delivered. */
  async start(onOpen: () => void): Promise<void> {
    const answer = await this.#open();
    onOpen();
    void this.#follow(answer);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #open(): Promise<FetchAnswer> {
    const { wire, sessionId, events } = this.#options;
    const query = new URLSearchParams({ session_id: sessionId, events });
    if (this.#after !== undefined) query.set('after', String(this.#after));
    const answer = await wire.open('GET', `/v1/events?${query}`, {
      accept: 'text/event-stream',
      signal: this.#stopping.signal,
    });
    if (answer.status !== 200) throw fromErrorMessage(await refusalOf(answer));
    if (!/^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '')) throw badAnswer(answer.status);
    return answer;
  }

  async #follow(first: FetchAnswer): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = new Backoff();
    let answer: FetchAnswer | undefined = first;
    while (!signal.aborted) {
      try {
        answer ??= await this.#open();
        if (await this.#readAll(answer)) backoff.reset();
      } catch (thrown) {
        if (signal.aborted) return;
        if (isToolError(thrown) && isFinal(thrown)) return this.#options.deliver(toErrorMessage(thrown, null));
        // Otherwise the stream broke off, and is opened again below.
      }
      answer = undefined;
      await pause(backoff.next(), signal);
    }
  }

  /** True when the stream brought at least one event. */
  async #readAll(answer: FetchAnswer): Promise<boolean> {
    const reader = answer.body?.getReader();
    if (reader === undefined) return false;
    const parser = new SseParser(MAX_MESSAGE_BYTES);
    const decoder = new TextDecoder();
    let hasEvents = false;
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      for (const { data } of parser.push(decoder.decode(step.value, { stream: true }))) {
        if (this.#stopping.signal.aborted) return hasEvents;
        hasEvents = true;
        this.#deliver(readServerMessage(data));
      }
    }
    return hasEvents;
  }

  #deliver(message: ServerMessage): void {
    if (message.type === 'EventMessage' && message.id !== undefined) this.#after = message.id;
    this.#options.deliver(message);
  }
}

async function refusalOf(answer: FetchAnswer): Promise<ErrorMessage> {
  return readRefusal({ status: answer.status, text: await answer.text(), retryAfterMs: undefined });
}
