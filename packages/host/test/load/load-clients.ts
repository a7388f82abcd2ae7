/** Thin clients of the three ways in. They add nothing: what comes goes to the book as it came. */
import type { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import type { SessionOpened } from '@tool-runtime/protocol';
import { Pool } from 'undici';
import { WebSocket } from 'ws';
import type { CallBook, Sender, TransportName } from './call-book.ts';
import type { ServeProcess } from './serve-process.ts';

export interface LoadClient extends Sender {
  /** Says goodbye; resolves when the host has ended the session. */
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly book: CallBook;
  readonly serve: ServeProcess;
  readonly pool: Pool;
  /** Every change of status of its calls, too; streams only. */
  readonly wantsEvents: boolean;
}

export type OpenClient = (options: ClientOptions) => Promise<LoadClient>;

export const OPENERS: Readonly<Record<TransportName, OpenClient>> = {
  websocket: openWebSocket,
  http: openHttp,
  lines: openLines,
};

/** One pool for all HTTP sessions, as many connections as there may be calls. */
export function openPool({ url }: ServeProcess, connections: number): Pool {
  return new Pool(url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
}

async function openWebSocket(options: ClientOptions): Promise<LoadClient> {
  const { serve } = options;
  const socket = new WebSocket(`${serve.url.replace('http', 'ws')}/v1/ws`, {
    headers: { authorization: `Bearer ${serve.token}` },
    perMessageDeflate: false,
  });
  const greeting = new Greeting(options, (text) => socket.send(text));
  socket.on('message', (data) => greeting.take(String(data)));
  socket.on('error', () => {});
  const closed = whenClosed(socket).then(() => greeting.break());
  const sessionId = await greeting.done;
  return {
    transport: 'websocket',
    sessionId,
    send: (text) => socket.send(text),
    async close() {
      socket.close(1000);
      await closed;
    },
  };
}

async function openLines(options: ClientOptions): Promise<LoadClient> {
  const socket = connect(options.serve.socket);
  const write = (text: string): void => void socket.write(`${text}\n`);
  const greeting = new Greeting(options, write);
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) greeting.take(line);
  });
  socket.on('error', () => {});
  const closed = whenClosed(socket).then(() => greeting.break());
  // Whoever is silent may still turn out to speak HTTP; an empty line settles it.
  socket.write('\n');
  const sessionId = await greeting.done;
  return {
    transport: 'lines',
    sessionId,
    send: write,
    async close() {
      socket.end();
      await closed;
    },
  };
}

async function openHttp({ book, serve, pool }: ClientOptions): Promise<LoadClient> {
  const json = { 'content-type': 'application/json' };
  const ask = async (method: 'POST' | 'DELETE', path: string, token: string, body?: string) => {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : json) };
    const answer = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const opened = await ask('POST', '/v1/sessions', serve.token, '{}');
  if (opened.status !== 201) throw new TypeError(`No session: ${opened.status} ${opened.text}`);
  const { session_id: sessionId, token } = JSON.parse(opened.text) as SessionOpened;
  book.opened(sessionId);
  return {
    transport: 'http',
    sessionId,
    send(text, requestId) {
      ask('POST', '/v1/call', token, text).then(
        ({ text: answer }) => (answer === '' ? undefined : book.hear(answer)),
        () => book.lose((call) => call.requestId === requestId),
      );
    },
    async close() {
      const { status, text } = await ask('DELETE', `/v1/sessions/${sessionId}`, token);
      if (status !== 204) throw new TypeError(`Session did not close: ${status} ${text}`);
    },
  };
}

/** Not `once` of Node: a connection that breaks is closed, too. */
function whenClosed(socket: EventEmitter): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** The first messages of a stream: the session of the connection, then the consent to all of its events. */
class Greeting {
  readonly done: Promise<string>;
  readonly #book: CallBook;
  readonly #wantsEvents: boolean;
  readonly #send: (text: string) => void;
  readonly #greeted = Promise.withResolvers<string>();
  #sessionId: string | undefined;
  #isDone = false;

  constructor({ book, wantsEvents }: ClientOptions, send: (text: string) => void) {
    this.#book = book;
    this.#wantsEvents = wantsEvents;
    this.#send = send;
    this.done = this.#greeted.promise;
  }

  take(text: string): void {
    if (this.#isDone) this.#book.hear(text);
    else this.#greet(text);
  }

  #greet(text: string): void {
    const { type, session_id } = JSON.parse(text) as { type: string; session_id: string };
    if (type !== 'SessionAck') this.#greeted.reject(new TypeError(`No greeting: ${text.slice(0, 300)}`));
    if (this.#sessionId === undefined) {
      this.#sessionId = session_id;
      this.#book.opened(session_id);
      if (this.#wantsEvents) this.#send(JSON.stringify({ type: 'SessionAttach', session_id, events: 'all' }));
      if (this.#wantsEvents) return;
    }
    this.#isDone = true;
    this.#greeted.resolve(session_id);
  }

  /** The connection is gone. */
  break(): void {
    this.#greeted.reject(new TypeError('The connection broke before the greeting'));
    const sessionId = this.#sessionId;
    if (sessionId !== undefined) this.#book.lose((call) => call.sessionId === sessionId);
  }
}
