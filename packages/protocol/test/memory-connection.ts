/** A Connection whose other end is in the test's hands. Messages cross as text, as they would on a wire. */
import { type ClientMessage, parseClientMessage, type ServerMessage } from '@tool-runtime/protocol';
import type { Connection } from '@tool-runtime/protocol/client';

class Queue<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = [];
  #wake = Promise.withResolvers<void>();
  #end: { readonly error?: unknown } | undefined;

  push(item: Item): void {
    this.#items.push(item);
    this.#wake.resolve();
  }

  end(reason: { readonly error?: unknown } = {}): void {
    this.#end ??= reason;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    while (true) {
      const item = this.#items.shift();
      if (item !== undefined) yield item;
      else if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return;
      } else {
        this.#wake = Promise.withResolvers();
        await this.#wake.promise;
      }
    }
  }
}

export interface HostEnd {
  send(message: ServerMessage): void;
  /** The next message from the client; waits for it. */
  next(): Promise<ClientMessage>;
  /** Everything sent so far, oldest first. */
  readonly received: readonly ClientMessage[];
  drop(error?: unknown): void;
  /** Makes the client's next sends fail. */
  breakSending(error: unknown): void;
  readonly isClosed: boolean;
}

export function createConnectionPair(): { readonly connection: Connection; readonly host: HostEnd } {
  const toHost = new Queue<ClientMessage>();
  const toClient = new Queue<ServerMessage>();
  const incoming = toHost[Symbol.asyncIterator]();
  const state: { received: ClientMessage[]; sendError?: unknown; isClosed: boolean } = {
    received: [],
    isClosed: false,
  };
  const connection: Connection = {
    async send(message) {
      if ('sendError' in state) throw state.sendError;
      const parsed = parseClientMessage(JSON.stringify(message));
      if (!parsed.ok) throw new TypeError(parsed.error.message);
      state.received.push(parsed.message);
      toHost.push(parsed.message);
    },
    messages: () => toClient,
    close() {
      state.isClosed = true;
      toClient.end();
      toHost.end();
    },
  };
  const host: HostEnd = {
    send: (message) => toClient.push(message),
    async next() {
      const step = await incoming.next();
      if (step.done) throw new TypeError('The client sends no more');
      return step.value;
    },
    received: state.received,
    drop: (error) => toClient.end(error === undefined ? {} : { error }),
    breakSending(error) {
      state.sendError = error;
    },
    get isClosed() {
      return state.isClosed;
    },
  };
  return { connection, host };
}
