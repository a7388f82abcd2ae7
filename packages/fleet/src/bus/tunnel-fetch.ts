/** `fetch` and `WebSocket` over tunnels, so that the client of a host is also the client of a fleet. */
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { isToolError } from '@tool-runtime/protocol';
import type {
  FetchAnswer,
  FetchInit,
  FetchLike,
  SocketLike,
  WebSocketConnectionOptions,
} from '@tool-runtime/protocol/client';
import { WebSocket } from 'ws';

/** The name hosts know themselves by on a connection that has no address. */
export const FLEET_URL = 'http://localhost';

const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** One tunnel per request: opening one costs no round trip. */
export function tunnelFetch(open: () => Promise<Duplex>): FetchLike {
  return async (url, init) => {
    const tunnel = await open();
    const { pathname, search } = new URL(url);
    return answerOf(await askThrough(tunnel, { path: pathname + search, ...init }));
  };
}

export interface TunnelRequest extends Pick<FetchInit, 'method' | 'headers'> {
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One HTTP request; the tunnel ends with it. */
export function askThrough(
  tunnel: Duplex,
  { path, method, headers, body, signal }: TunnelRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let why: Error | undefined;
    tunnel.once('error', (error) => {
      why = error;
    });
    const asked = request({
      agent: new OneTunnel(tunnel),
      method,
      path,
      headers: { ...headers, host: 'localhost', connection: 'close' },
      ...(signal === undefined ? {} : { signal }),
    });
    asked.once('response', resolve);
    asked.once('error', (error) => reject(isToolError(why) ? why : error));
    asked.end(body);
  });
}

/** An agent whose only connection is the tunnel. */
class OneTunnel extends Agent {
  readonly #tunnel: Duplex;

  constructor(tunnel: Duplex) {
    super({ keepAlive: false });
    this.#tunnel = tunnel;
  }

  override createConnection(): Duplex {
    return this.#tunnel;
  }
}

function answerOf(answer: IncomingMessage): FetchAnswer {
  const chunks = answer[Symbol.asyncIterator]();
  return {
    status: answer.statusCode ?? 0,
    headers: { get: (name) => headerOf(answer, name) },
    body: {
      getReader: () => ({
        async read() {
          const { done = false, value } = await chunks.next();
          return { done, value: done ? undefined : (value as Uint8Array) };
        },
        async cancel() {
          answer.destroy();
        },
      }),
    },
    async text() {
      const parts: Buffer[] = [];
      for await (const part of { [Symbol.asyncIterator]: () => chunks }) parts.push(part as Buffer);
      return Buffer.concat(parts).toString();
    },
  };
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

export function tunnelWebSocket(open: () => Duplex): NonNullable<WebSocketConnectionOptions['WebSocket']> {
  return class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, {
        createConnection: open,
        perMessageDeflate: false,
        maxPayload: MAX_FRAME_BYTES,
      } as ConstructorParameters<typeof WebSocket>[2]);
    }
  } as unknown as new (
    url: string,
    protocols: string[],
  ) => SocketLike;
}
