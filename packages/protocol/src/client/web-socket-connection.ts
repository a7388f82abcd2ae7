/**
 * Envelopes as text frames of a WebSocket. The token travels as a sub-protocol, because browsers do not let pages set headers,
 * and an address ends up in logs.
 *
 * Browsers do not say when there is room again after too much was sent: `bufferedAmount` is looked at until there is.
 */
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { pause } from './backoff.ts';
import type { Connection } from './connection.ts';
import { connectionClosed } from './error-messages.ts';
import { hostAddress } from './host-wire.ts';
import { MessageQueue } from './message-queue.ts';
import { readServerMessage, unreadable } from './read-server-message.ts';

export const WEB_SOCKET_PROTOCOL = 'tool-runtime.v1';

export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
}

/** The part of a WebSocket the client uses: a browser's, Node's own, and that of the `ws` package fit. */
export interface SocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

export interface WebSocketConnectionOptions {
  /** Of the host (`http` or `ws`), or of its WebSocket. */
  readonly url: string;
  readonly token?: string;
  readonly WebSocket?: new (url: string, protocols: string[]) => SocketLike;
  /** What may wait unsent before `send` makes its caller wait. */
  readonly maxBufferedBytes?: number;
}

const OPEN = 1;
const POLL_MS = 4;
/** To the host the first means that the client will not come back; any other code leaves the session open for a while. */
const GOODBYE = 1000;
const COMING_BACK = 4000;
const MAX_BUFFERED_BYTES = 1024 * 1024;

export function webSocketConnection(options: WebSocketConnectionOptions): Connection {
  return new SocketConnection(options);
}

class SocketConnection implements Connection {
  readonly #socket: SocketLike;
  readonly #maxBuffered: number;
  readonly #messages = new MessageQueue<ServerMessage>();
  readonly #opened = Promise.withResolvers<void>();
  /** The last message that has to wait; later ones wait after it, so that the order stays. */
  #waiting: Promise<void> | undefined;

  constructor({ url, token, WebSocket = globalThis.WebSocket, maxBufferedBytes }: WebSocketConnectionOptions) {
    this.#maxBuffered = maxBufferedBytes ?? MAX_BUFFERED_BYTES;
    this.#opened.promise.catch(() => undefined);
    this.#socket = new WebSocket(`${hostAddress(url, 'ws')}/v1/ws`, protocolsFor(token));
    this.#socket.addEventListener('open', () => this.#opened.resolve());
    this.#socket.addEventListener('message', ({ data }) => this.#messages.push(readFrame(data)));
    this.#socket.addEventListener('close', (event) => this.#end(closedBy(event)));
    // Some implementations follow an error by a close that says more, others by none at all.
    this.#socket.addEventListener('error', () => void pause(0).then(() => this.#endIfBroken()));
  }

  messages(): AsyncIterable<ServerMessage> {
    return this.#messages;
  }

  send(message: ClientMessage): void | Promise<void> {
    const text = JSON.stringify(message);
    if (this.#waiting === undefined && this.#hasRoom()) return this.#socket.send(text);
    const sent = (this.#waiting ?? Promise.resolve()).catch(() => undefined).then(() => this.#sendLater(text));
    const waiting = sent.finally(() => {
      if (this.#waiting === waiting) this.#waiting = undefined;
    });
    waiting.catch(() => undefined);
    this.#waiting = waiting;
    return sent;
  }

  close(): void {
    this.#end(undefined);
    this.#socket.close(GOODBYE);
  }

  abandon(): void {
    this.#end(undefined);
    this.#socket.close(COMING_BACK);
  }

  #hasRoom(): boolean {
    return this.#socket.readyState === OPEN && this.#socket.bufferedAmount <= this.#maxBuffered;
  }

  async #sendLater(text: string): Promise<void> {
    await this.#opened.promise;
    while (!this.#hasRoom()) {
      // A socket that is no longer open takes what it is given and throws it away without a word.
      if (this.#socket.readyState !== OPEN) throw connectionClosed();
      await pause(POLL_MS);
    }
    this.#socket.send(text);
  }

  #endIfBroken(): void {
    if (this.#socket.readyState !== OPEN) this.#end(connectionClosed());
  }

  #end(error: unknown): void {
    this.#opened.reject(error ?? connectionClosed());
    this.#messages.end(error);
  }
}

function protocolsFor(token: string | undefined): string[] {
  if (token === undefined) return [WEB_SOCKET_PROTOCOL];
  // Checked here because the platform's own refusal quotes what it was given.
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(token)) throw new TypeError('token holds characters that no sub-protocol may have');
  return [WEB_SOCKET_PROTOCOL, `bearer.${token}`];
}

function readFrame(data: unknown): ServerMessage {
  return typeof data === 'string' ? readServerMessage(data) : unreadable('not_text');
}

/** Undefined for an end in order. */
function closedBy({ code = 1006, reason = '' }: SocketEvent): unknown {
  if (code === GOODBYE) return undefined;
  const next = 'check the address and the token; a browser does not say which of them was refused';
  return connectionClosed(undefined, {
    close_code: code,
    ...(reason === '' ? {} : { close_reason: reason }),
    ...(code === 1006 ? { next } : {}),
  });
}
