/** A real coordinator on loopback whose answers a test chooses; it keeps what it was asked and is gone with the test. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Asked {
  readonly name: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
}

export type Answer = (response: ServerResponse, asked: Asked) => void;

export interface LoopbackCoordinator {
  readonly url: string;
  readonly port: number;
  readonly asked: readonly Asked[];
  readonly connections: number;
  /** What it answers from now on. */
  answer: Answer;
  /** Drops every connection and listens no more. */
  stop(): Promise<void>;
}

export function json(value: unknown, status = 200): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
}

export async function startCoordinator(t: TestContext, answer: Answer, port = 0): Promise<LoopbackCoordinator> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const { url = '', headers } = request;
      const question = { name: url, body: JSON.parse(text), authorization: headers.authorization };
      asked.push(question);
      coordinator.answer(response, question);
    });
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  const bound = await listen(server, port);
  const coordinator: LoopbackCoordinator = {
    url: `http://127.0.0.1:${bound}/hooks/`,
    port: bound,
    asked,
    get connections() {
      return connections;
    },
    answer,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  t.after(() => coordinator.stop());
  return coordinator;
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', reject).listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
