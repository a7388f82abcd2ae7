/** Real servers on loopback for tests of the network gate; they count what reaches them and are gone with the test. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { HttpAnswer, HttpRequest, OpenHttpClient } from '../src/contracts/http.ts';
import { createHttpClient, type HttpClientOptions } from '../src/platform/network/http-client.ts';
import type { SelfSigned } from './self-signed.ts';

export interface LoopbackServer {
  readonly port: number;
  /** Connections that arrived so far. */
  readonly connections: Socket[];
}

export interface WebServer extends LoopbackServer {
  /** `METHOD url` of every request so far. */
  readonly requests: IncomingMessage[];
}

export async function startWeb(
  t: TestContext,
  handle: RequestListener,
  options: { readonly host?: string; readonly port?: number; readonly tls?: SelfSigned } = {},
): Promise<WebServer> {
  const requests: IncomingMessage[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    handle(request, response as ServerResponse & { req: IncomingMessage });
  };
  const { tls } = options;
  const server =
    tls === undefined ? createServer(listener) : createTlsServer({ key: tls.key, cert: tls.cert }, listener);
  return { ...(await listen(t, server, options)), requests };
}

/** Gives out bare sockets: for servers that lie about HTTP. Each one is given what the client sends, as text. */
export function startRaw(
  t: TestContext,
  onData: (socket: Socket, text: string, nth: number) => void,
): Promise<LoopbackServer> {
  let connections = 0;
  const server = createRawServer((socket) => {
    connections += 1;
    const nth = connections;
    socket.on('error', () => {});
    socket.on('data', (bytes) => onData(socket, bytes.toString('latin1'), nth));
  });
  return listen(t, server, {});
}

async function listen(
  t: TestContext,
  server: Server,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number },
): Promise<LoopbackServer> {
  const connections: Socket[] = [];
  server.on('connection', (socket) => connections.push(socket));
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, host, resolve));
  t.after(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections };
}

export function openClient(t: TestContext, options: HttpClientOptions): OpenHttpClient {
  const client = createHttpClient(options);
  t.after(() => client.close());
  return client;
}

export function get(client: OpenHttpClient, url: string, extra: Partial<HttpRequest> = {}): Promise<HttpAnswer> {
  return client.send({ method: 'GET', url, headers: {}, body: null, timeoutMs: 60_000, maxBytes: 1_000_000, ...extra });
}

export function textOf(answer: HttpAnswer): string {
  return Buffer.from(answer.body).toString('utf8');
}
