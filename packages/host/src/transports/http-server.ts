/** Node's HTTP server with limits, the app on its requests and WebSockets on its upgrades. */
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { idSchema, ToolError } from '@tool-runtime/protocol';
import { WebSocketServer } from 'ws';
import type { Principal } from '../auth/principal.ts';
import type { Host } from '../host/create-host.ts';
import { errorAnswer } from '../host/served-session.ts';
import type { HostSession } from '../host/session-table.ts';
import type { App } from '../http/create-app.ts';
import type { Gatekeeper } from '../http/gatekeeper.ts';
import { statusOf } from '../http/status-of.ts';
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
    requireHostHeader: true,
    insecureHTTPParser: false,
    noDelay: true,
  };
  // The lightweight Request of the adapter is used by itself; the globals of the process around us stay as they are.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
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
  server.on('clientError', (_error, socket) => refuseBytes(socket as Socket));
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
      (thrown: unknown) => refuseUpgrade(client, thrown),
    );
  });

  async function openSocket(incoming: IncomingMessage): Promise<{ principal: Principal; session: HostSession }> {
    const url = new URL(incoming.url ?? '/', 'http://host');
    const problem = gatekeeper.judgeExposure(incoming);
    if (problem !== undefined) throw problem;
    if (url.pathname !== WS_PATH) throw noUpgradeHere();
    const principal = gatekeeper.authenticate(incoming, { isUpgrade: true });
    const asked = url.searchParams.get('session_id') ?? principal.sessionId;
    const session =
      asked === undefined
        ? await host.openSession(principal, { client: clientOf(incoming) }, { isOfConnection: true })
        : host.session(principal, asked);
    return { principal, session };
  }

  /** A session of this connection alone ends with a goodbye; after a drop it waits for the client's return. */
  function leave(session: HostSession, how: 'clean' | 'dropped'): void {
    if (session.isOfConnection && how === 'clean' && session.served.listeners === 0) {
      void host.closeSession(session, { cancel: false });
    }
  }

  return server;
}

function clientOf({ headers }: IncomingMessage): { name: string } {
  const agent = idSchema.safeParse(headers['user-agent']);
  return { name: agent.success ? agent.data.slice(0, 100) : 'websocket' };
}

function refuseBytes(socket: Socket): void {
  if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  else socket.destroy();
}

function refuseUpgrade(socket: Socket, thrown: unknown): void {
  const error = errorAnswer(thrown, null);
  const status = statusOf(error);
  const body = JSON.stringify(error);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  if (socket.writable) socket.end(`${head}\r\n\r\n${body}`);
  else socket.destroy();
}

function noUpgradeHere(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'There is no WebSocket at this path', {
    details: { reason: 'unknown_route', next: `connect to ${WS_PATH}` },
  });
}
