/** Node's HTTP server with limits, the app on its requests and WebSockets on its upgrades. */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type ErrorMessage, idSchema, type ToolError } from '@tool-runtime/protocol';
import { withClass } from '@tool-runtime/protocol/internal';
import { WebSocketServer } from 'ws';
import type { Principal } from '../auth/principal.ts';
import type { App } from '../http/create-app.ts';
import { type Gatekeeper, judgeTarget, unknownRoute } from '../http/gatekeeper.ts';
import { headersOf, sendError, statusOf } from '../http/send-answer.ts';
import type { Host } from '../sessions/create-host.ts';
import { errorAnswer } from '../sessions/refusals.ts';
import type { HostSession } from '../sessions/session-table.ts';
import { endSocket } from './end-socket.ts';
import { serveWebSocket } from './websocket.ts';

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export const SUB_PROTOCOL = 'tool-runtime.v1';
const WS_PATH = '/v1/ws';
const GOING_AWAY = 1001;

export interface HttpService {
  readonly host: Host;
  readonly app: App;
  readonly gatekeeper: Gatekeeper;
  readonly tls?: TlsFiles | undefined;
}

export function createHttpServer({ host, app, gatekeeper, tls }: HttpService): Server {
  const { limits } = host;
  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.requestMs,
    requestTimeout: 2 * limits.requestMs,
    keepAliveTimeout: limits.requestMs,
    // How often the limits above are looked at.
    connectionsCheckingInterval: Math.ceil(limits.requestMs / 4),
    requireHostHeader: true,
    insecureHTTPParser: false,
    noDelay: true,
  };
  // The lightweight Request of the adapter is used by itself; the globals of the process around us stay as they are.
  const serve = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const judge = (incoming: IncomingMessage): ToolError | undefined =>
    judgeTarget(incoming.url ?? '') ?? gatekeeper.judgeExposure(incoming);
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const problem = judge(incoming);
    if (problem === undefined) void serve(incoming, outgoing);
    else sendError(outgoing, errorAnswer(problem, null));
  };
  const server =
    tls === undefined ? createServer(options, listener) : createTlsServer({ ...tls, ...options }, listener);
  const upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // Somewhat too large a message is refused under its own id; one far beyond ends the connection.
    maxPayload: 2 * host.maxRequestBytes,
    handleProtocols: (offered) => (offered.has(SUB_PROTOCOL) ? SUB_PROTOCOL : false),
  });
  server.maxConnections = limits.maxConnections;
  server.on('connection', (socket) => {
    host.connections += 1;
    socket.once('close', () => {
      host.connections -= 1;
    });
  });
  server.on('clientError', (error, socket) => refuseBytes(socket as Socket, error));
  server.on('upgrade', (incoming, socket, head) => {
    const client = socket as Socket;
    client.on('error', () => client.destroy());
    openSocket(incoming).then(
      ({ principal, session }) => {
        if (client.destroyed) return leave(session, 'dropped');
        upgrades.handleUpgrade(incoming, client, head, (webSocket) => {
          const goAway = (): void => webSocket.close(GOING_AWAY, 'host is shutting down');
          host.goingAway.add(goAway);
          webSocket.once('close', () => host.goingAway.delete(goAway));
          serveWebSocket(webSocket, client, {
            reach: host.reach(principal),
            served: session.served,
            limits,
            maxRequestBytes: host.maxRequestBytes,
            serverVersion: host.serverVersion,
            onMissed: () => {
              host.eventsMissed += 1;
            },
            isStillWelcome: () => gatekeeper.isWelcome(principal),
            onClose: (how) => leave(session, how),
          });
        });
      },
      (thrown: unknown) => refuseSocket(client, errorAnswer(thrown, null)),
    );
  });

  async function openSocket(incoming: IncomingMessage): Promise<{ principal: Principal; session: HostSession }> {
    const problem = judge(incoming);
    if (problem !== undefined) throw problem;
    const [path, query] = (incoming.url ?? '').split('?');
    if (path !== WS_PATH) throw unknownRoute();
    const principal = gatekeeper.authenticate(incoming, { isUpgrade: true });
    const asked = new URLSearchParams(query).get('session_id') ?? principal.sessionId;
    const session =
      asked === undefined
        ? await host.openSession(principal, { client: clientOf(incoming) }, { isOfConnection: true })
        : host.session(principal, asked);
    return { principal, session };
  }

  /** A session of this connection alone ends with a goodbye; after a drop it waits for the client's return. */
  function leave(session: HostSession, how: 'clean' | 'dropped'): void {
    if (session.isOfConnection && how === 'clean' && session.served.listeners === 0) {
      void host.closeSession(session, { children: 'end' });
    }
  }

  return server;
}

function clientOf({ headers }: IncomingMessage): { name: string } {
  const agent = idSchema.safeParse(headers['user-agent']);
  return { name: agent.success ? agent.data.slice(0, 100) : 'websocket' };
}

/** Refusals where there is no response object to write to: bytes that are no request, and upgrades. */
function refuseSocket(socket: Socket, error: ErrorMessage): void {
  const status = statusOf(error);
  const body = JSON.stringify(error);
  const headers = {
    ...headersOf(error),
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  endSocket(socket, `${head}\r\n\r\n${body}`);
}

/** What the parser of Node could not read, or did not get in time. */
function refuseBytes(socket: Socket, thrown: NodeJS.ErrnoException): void {
  // While a request is being answered, anything written here would pass for its answer.
  if (isAnswering(socket)) socket.destroy();
  else refuseSocket(socket, { ...(BY_CODE[thrown.code ?? ''] ?? MALFORMED) });
}

/** Node keeps the response under way on the socket, and says so nowhere else. */
function isAnswering(socket: Socket): boolean {
  return ((socket as { _httpMessage?: unknown })._httpMessage ?? null) !== null;
}

const MALFORMED: ErrorMessage = {
  type: 'ErrorMessage',
  code: 'E_VALIDATION_FAIL',
  message: 'Bytes are not an HTTP request',
  request_id: null,
  details: withClass('E_VALIDATION_FAIL', { reason: 'malformed' }),
};

const BY_CODE: Readonly<Record<string, ErrorMessage>> = {
  HPE_HEADER_OVERFLOW: {
    ...MALFORMED,
    message: 'Headers are larger than the limit',
    details: withClass('E_VALIDATION_FAIL', { reason: 'headers_too_large' }),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    ...MALFORMED,
    message: 'Request did not arrive in time',
    details: withClass('E_VALIDATION_FAIL', { reason: 'request_timeout', retry: 'retryable' }),
  },
};
