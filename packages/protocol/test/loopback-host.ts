/** The model host on real sockets: HTTP, server-sent events and WebSocket on one loopback port. Faults are put in by hooks. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ErrorMessage, parseClientMessage, type ServerMessage } from '@tool-runtime/protocol';
import { WebSocketServer, type WebSocket as WsSocket } from 'ws';
import { type ModelHost, type ModelSession, refusal } from './model-host.ts';

export interface LoopbackOptions {
  readonly token?: string;
  /** The session that WebSockets are greeted with. */
  session(): ModelSession;
  /** Sees every HTTP request first; true when it has taken care of it. */
  onHttp?(request: IncomingMessage, response: ServerResponse): boolean | Promise<boolean>;
  /** Sees every frame first; false keeps it from the host. */
  onFrame?(text: string, socket: WsSocket): boolean;
  onConnect?(socket: WsSocket): void;
}

export interface Loopback {
  readonly url: string;
  /** Cuts all connections without a word. */
  cutAll(): void;
  readonly upgrades: { readonly url: string; readonly protocols: string | undefined }[];
  readonly requests: { readonly method: string; readonly url: string; readonly token: string | undefined }[];
  close(): Promise<void>;
}

export async function startLoopback(host: ModelHost, options: LoopbackOptions): Promise<Loopback> {
  const sockets = new Set<Socket>();
  const upgrades: { url: string; protocols: string | undefined }[] = [];
  const requests: { method: string; url: string; token: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', token: request.headers.authorization });
    void serveHttp(host, options, request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  const sockServer = new WebSocketServer({ noServer: true, handleProtocols: () => 'tool-runtime.v1' });
  server.on('upgrade', (request, socket, head) => {
    const protocols = request.headers['sec-websocket-protocol'];
    upgrades.push({ url: request.url ?? '', protocols });
    const isAllowed = options.token === undefined || protocols?.split(/, */).includes(`bearer.${options.token}`);
    if (!isAllowed) return void socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n');
    sockServer.handleUpgrade(request, socket, head, (opened) => serveSocket(host, options, opened));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAll,
    upgrades,
    requests,
    async close() {
      cutAll();
      sockServer.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serveSocket(host: ModelHost, options: LoopbackOptions, socket: WsSocket): void {
  socket.on('error', () => undefined);
  const peer = host.connect((message) => socket.send(JSON.stringify(message)), options.session());
  socket.on('close', () => peer.leave());
  socket.on('message', (data) => {
    const text = String(data);
    if (options.onFrame?.(text, socket) === false) return;
    const parsed = parseClientMessage(text);
    if (parsed.ok) peer.receive(parsed.message);
    else socket.send(JSON.stringify(parsed.error));
  });
  options.onConnect?.(socket);
}

export function sendJson(response: ServerResponse, status: number, body?: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const STATUS: Readonly<Record<string, number>> = { unknown_session: 404, never_received: 404, answer_gone: 404 };

function sendRefusal(response: ServerResponse, error: ErrorMessage): void {
  sendJson(response, STATUS[String(error.details?.['reason'])] ?? 400, error);
}

async function serveHttp(
  host: ModelHost,
  options: LoopbackOptions,
  request: IncomingMessage,
  response: ServerResponse,
) {
  request.on('error', () => undefined);
  if (await options.onHttp?.(request, response)) return;
  const isAllowed = options.token === undefined || request.headers.authorization === `Bearer ${options.token}`;
  if (!isAllowed) return sendJson(response, 401, refusal(null, 'E_POLICY', 'token_invalid'));
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host');
  if (pathname === '/v1/call') return serveCall(host, request, response);
  if (pathname === '/v1/events') return serveEvents(host, searchParams, response);
  const [, sessionId, requestId] = /^\/v1\/sessions\/([^/]+)\/calls\/([^/]+)$/.exec(pathname) ?? [];
  if (sessionId !== undefined && requestId !== undefined) return serveState(host, [sessionId, requestId], response);
  return sendJson(response, 404, refusal(null, 'E_VALIDATION_FAIL', 'unknown_route'));
}

async function serveCall(host: ModelHost, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parsed = parseClientMessage(await readText(request).catch(() => ''));
  if (!parsed.ok) return sendRefusal(response, parsed.error);
  const { message } = parsed;
  const answers: ServerMessage[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const peer = host.connect((answer) => {
    answers.push(answer);
    resolve();
  });
  peer.receive(message);
  if (message.type === 'CancelRequest') return sendJson(response, 202);
  await promise;
  const [answer] = answers;
  if (answer?.type === 'ErrorMessage' && answer.details?.['reason'] !== 'cancelled') sendRefusal(response, answer);
  else sendJson(response, 200, answer);
}

function serveEvents(host: ModelHost, query: URLSearchParams, response: ServerResponse): void {
  const session = host.sessions.get(query.get('session_id') ?? '');
  if (session === undefined) {
    sendRefusal(response, refusal(null, 'E_POLICY', 'unknown_session'));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': open\n\n');
  const peer = host.connect((message) => {
    if (message.type === 'EventMessage') response.write(`id: ${message.id}\ndata: ${JSON.stringify(message)}\n\n`);
  });
  const after = query.get('after');
  peer.receive({ type: 'SessionAttach', session_id: session.id, ...(after === null ? {} : { after: Number(after) }) });
  response.on('close', () => peer.leave());
}

function serveState(host: ModelHost, [sessionId, requestId]: [string, string], response: ServerResponse): void {
  const session = host.sessions.get(decodeURIComponent(sessionId));
  if (session === undefined) {
    sendRefusal(response, refusal(null, 'E_POLICY', 'unknown_session'));
    return;
  }
  const state = host.stateOf(session, decodeURIComponent(requestId));
  if (state instanceof Promise) sendJson(response, 202, { request_id: requestId, state: 'running' });
  else if (state.type === 'ErrorMessage' && STATUS[String(state.details?.['reason'])]) sendRefusal(response, state);
  else sendJson(response, 200, state);
}
