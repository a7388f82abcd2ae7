/** Thin clients of the three ways in. They add nothing: what comes goes to the book as it came. */
import type { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import type { SessionOpened } from '@tool-runtime/protocol';
import { Pool } from 'undici';
import { WebSocket } from 'ws';
import type { CallBook, Sender, TransportName } from './call-book.ts';
import type { ServeProcess } from './serve-process.ts';

export interface LoadClient extends Sender {
  /** Resolves when its connection is gone; never for one that has none of its own. */
  readonly closed: Promise<void>;
  /** Says goodbye; resolves when the host has ended the session. */
  close(): Promise<void>;
}

/** Where the host listens, and the word that lets one in. */
export type ServeAddress = Pick<ServeProcess, 'url' | 'socket' | 'token'>;

export interface ClientOptions {
  readonly book: CallBook;
  readonly serve: ServeAddress;
  readonly pool: Pool;
  /** Every change of status of its calls, too; streams only. */
  readonly wantsEvents: boolean;
  /** Where it works, if not in the first one of the host; HTTP only. */
  readonly workspace?: string;
}

export type OpenClient = (options: ClientOptions) => Promise<LoadClient>;

export const OPENERS: Readonly<Record<Exclude<TransportName, 'mcp'>, OpenClient>> = {
  websocket: openWebSocket,
  http: openHttp,
  lines: openLines,
};

/** One pool for all HTTP sessions, as many connections as there may be calls. */
export function openPool({ url }: ServeAddress, connections: number): Pool {
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
  const sessionId = await orLeave(greeting.done, () => socket.terminate());
  return {
    transport: 'websocket',
    sessionId,
    closed,
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
  // A silent client may still turn out to speak HTTP; an empty line settles it.
  socket.write('\n');
  const sessionId = await orLeave(greeting.done, () => socket.destroy());
  return {
    transport: 'lines',
    sessionId,
    closed,
    send: write,
    async close() {
      socket.end();
      await closed;
    },
  };
}

async function openHttp({ book, serve, pool, workspace }: ClientOptions): Promise<LoadClient> {
  const json = { 'content-type': 'application/json' };
  const ask = async (method: 'POST' | 'DELETE', path: string, token: string, body?: string) => {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : json) };
    const answer = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const opened = await ask('POST', '/v1/sessions', serve.token, JSON.stringify({ workspace }));
  if (opened.status !== 201) throw new TypeError(`No session: ${opened.status} ${opened.text}`);
  const { session_id: sessionId, token } = JSON.parse(opened.text) as SessionOpened;
  book.opened(sessionId);
  return {
    transport: 'http',
    sessionId,
    closed: new Promise(() => {}),
    send(text, requestId) {
      ask('POST', '/v1/call', token, text).then(
        // A cancel has no answer of its own, only one of the call it means.
        ({ text: answer }) => (answer === '' || requestId === '' ? undefined : book.hear(addressed(answer, requestId))),
        () => book.lose((call) => call.requestId === requestId),
      );
    },
    async close() {
      const { status, text } = await ask('DELETE', `/v1/sessions/${sessionId}`, token);
      if (status !== 204) throw new TypeError(`Session did not close: ${status} ${text}`);
    },
  };
}

/** A refusal that came before the message was read names no request; over HTTP it is clear which one it means. */
export function addressed(answer: string, requestId: string): string {
  return answer.replace('"request_id":null', `"request_id":"${requestId}"`);
}

/** A refused client disconnects. */
async function orLeave<T>(greeted: Promise<T>, leave: () => void): Promise<T> {
  try {
    return await greeted;
  } catch (thrown) {
    leave();
    throw thrown;
  }
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
    if (type !== 'SessionAck') {
      this.#greeted.reject(new TypeError(`No greeting: ${text.slice(0, 300)}`));
      return;
    }
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
