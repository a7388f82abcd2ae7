/**
 * The events of one session, or of all, over HTTP, for as long as they are wanted. A stream that breaks off is opened again
 * after the last event that was seen; only a refusal ends it.
 */
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { isToolError, ToolError } from '../primitives/errors.ts';
import { Backoff, pause } from './backoff.ts';
import { fromErrorMessage, isFinal, toErrorMessage } from './error-messages.ts';
import { badAnswer, type FetchAnswer, type HostWire, readRefusal } from './host-wire.ts';
import { MAX_MESSAGE_BYTES, readServerMessage } from './read-server-message.ts';

export interface EventFeedOptions {
  readonly wire: HostWire;
  /** With its query, such as `/v1/events?session_id=…`. */
  readonly path: string;
  readonly after: number | undefined;
  /** Called when a stream that was open broke off, before it is opened again. */
  onBreak?(): void;
  /** Called when it is open again. */
  onReturn?(): void;
  deliver(message: ServerMessage): void;
}

interface ServerSentEvent {
  readonly data: string;
  /** `message` when the stream names none. */
  readonly event: string;
  /** The last one the stream gave, which may be that of an earlier event. */
  readonly id: string;
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
    const { wire, path } = this.#options;
    const after = this.#after === undefined ? '' : `${path.includes('?') ? '&' : '?'}after=${this.#after}`;
    const answer = await wire.open('GET', path + after, {
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
        if (answer === undefined) {
          answer = await this.#open();
          this.#options.onReturn?.();
        }
        if (await this.#readAll(answer)) backoff.reset();
      } catch (thrown) {
        if (signal.aborted) return;
        if (isToolError(thrown) && isFinal(thrown)) return this.#options.deliver(toErrorMessage(thrown, null));
        // Otherwise the stream broke off, and is opened again below.
      }
      if (answer !== undefined) this.#options.onBreak?.();
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

/**
 * Server-sent events out of text that comes in pieces, by the rules of the HTML standard.
 *
 * A piece may end anywhere, also between CR and LF. An event cut off by the end of the stream does not count.
 */
export class SseParser {
  readonly #maxLength: number;
  #rest = '';
  #isFirst = true;
  #endedWithCr = false;
  #data: string[] = [];
  #length = 0;
  #event = '';
  #id = '';

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The events this piece completes. Throws when one grows over the limit. */
  push(piece: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    let text = this.#rest + this.#withoutJoints(piece);
    // A CR at the very end may be half of a line end: it ends its line now, and a LF that follows is left out.
    for (let end = text.search(/[\r\n]/); end !== -1; end = text.search(/[\r\n]/)) {
      const isPair = text.startsWith('\r\n', end);
      this.#endedWithCr = !isPair && end === text.length - 1 && text.endsWith('\r');
      this.#readLine(text.slice(0, end), events);
      text = text.slice(end + (isPair ? 2 : 1));
    }
    this.#rest = text;
    if (this.#rest.length + this.#length > this.#maxLength) throw tooLarge(this.#maxLength);
    return events;
  }

  #withoutJoints(piece: string): string {
    if (piece === '') return piece;
    let text = piece;
    if (this.#isFirst && text.startsWith('\ufeff')) text = text.slice(1);
    if (this.#endedWithCr && text.startsWith('\n')) text = text.slice(1);
    this.#isFirst = false;
    this.#endedWithCr = false;
    return text;
  }

  #readLine(line: string, events: ServerSentEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) {
        events.push({ data: this.#data.join('\n'), event: this.#event === '' ? 'message' : this.#event, id: this.#id });
      }
      this.#data = [];
      this.#length = 0;
      this.#event = '';
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') {
      this.#data.push(value);
      this.#length += value.length;
    } else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
  }
}

function tooLarge(limit: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Event of the host is larger than the limit: ${limit}`, {
    details: { reason: 'too_large', limit },
  });
}
