/** Clients of all transports, the same for the host and for the bare echo: text out, text in, matched by its id. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { Pool } from 'undici';
import { WebSocket } from 'ws';
import { idOf } from './request-text.ts';

export interface WireClient {
  /** Of the greeting, for transports that have one. */
  readonly sessionId: string;
  /** Resolves with the answer to this request. */
  ask(requestId: string, text: string): Promise<string>;
  close(): Promise<void>;
}

export interface StreamOptions {
  /** Whether the first message is a greeting. */
  readonly isGreeted: boolean;
}

export async function connectLines(path: string, options: StreamOptions): Promise<WireClient> {
  const socket = connect(path);
  await once(socket, 'connect');
  // A silent server may still speak HTTP; an empty line settles it.
  socket.write('\n');
  return talkLines(socket, socket, { ...options, close: () => void socket.destroy() });
}

/** Over two streams, such as those of a child process. */
export async function talkLines(
  input: Readable,
  output: Writable,
  { isGreeted, close }: StreamOptions & { readonly close: () => void },
): Promise<WireClient> {
  const inbox = new Inbox();
  let rest = '';
  input.setEncoding('utf8');
  input.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) inbox.take(line);
  });
  return inbox.client({ isGreeted, close, send: (text) => void output.write(`${text}\n`) });
}

export interface WebSocketOptions extends StreamOptions {
  readonly token?: string;
}

/** `address`: `ws://host:port` or `ws+unix:/path/of.sock:`. */
export async function connectWebSocket(address: string, options: WebSocketOptions): Promise<WireClient> {
  const { token, isGreeted } = options;
  const socket = new WebSocket(`${address}/v1/ws`, {
    perMessageDeflate: false,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });
  const inbox = new Inbox();
  socket.on('message', (data) => inbox.take(String(data)));
  await once(socket, 'open');
  return inbox.client({ isGreeted, close: () => socket.terminate(), send: (text) => socket.send(text) });
}

export interface HttpOptions {
  readonly connections: number;
  readonly socketPath?: string;
  readonly token?: string;
}

export function connectHttp(url: string, { connections, socketPath, token }: HttpOptions): WireClient {
  const pool = new Pool(url, { connections, pipelining: 1, ...(socketPath === undefined ? {} : { socketPath }) });
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return {
    sessionId: '',
    async ask(_, body) {
      const answer = await pool.request({ method: 'POST', path: '/v1/call', headers, body });
      return answer.body.text();
    },
    close: () => pool.destroy(),
  };
}

class Inbox {
  readonly #waiting = new Map<string, (text: string) => void>();
  readonly #greeting = Promise.withResolvers<string>();

  take(text: string): void {
    const id = idOf(text);
    if (id === '') this.#greeting.resolve(text);
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    answer?.(text);
  }

  async client(wire: StreamOptions & { send(text: string): void; close(): void }): Promise<WireClient> {
    const greeting = wire.isGreeted ? (JSON.parse(await this.#greeting.promise) as { session_id: string }) : undefined;
    return {
      sessionId: greeting?.session_id ?? '',
      ask: (requestId, text) =>
        new Promise((resolve) => {
          this.#waiting.set(requestId, resolve);
          wire.send(text);
        }),
      close: async () => wire.close(),
    };
  }
}
