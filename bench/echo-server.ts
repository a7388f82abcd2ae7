/**
 * The floor: the same transports on the same libraries as the host, without anything else. A request is answered
 * with a text of the size the host's answer has, under the request's own id.
 *
 * Runs as a program: `streams <folder>` listens on sockets in the folder and on loopback, `stdio` answers its parent.
 */
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { WebSocketServer } from 'ws';
import { idOf } from './wire/request-text.ts';

const [mode, folder = ''] = process.argv.slice(2);
const [before = '', after = ''] = (process.env['ECHO_ANSWER'] ?? '').split('ID');

function answerTo(request: string): string {
  return before + idOf(request) + after;
}

function echoLines(input: Readable, output: Writable): void {
  let rest = '';
  input.setEncoding('utf8');
  input.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) output.write(`${answerTo(line)}\n`);
  });
}

function listenHttp(
  listen: (server: ReturnType<typeof createServer>) => void,
): Promise<ReturnType<typeof createServer>> {
  const app = new Hono();
  app.post('/v1/call', async (context) => {
    const text = answerTo(await context.req.text());
    return context.body(text, 200, { 'content-type': 'application/json' });
  });
  const listener: RequestListener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer({ noDelay: true }, listener);
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(answerTo(String(data)))));
  return new Promise((resolve) => {
    server.once('listening', () => resolve(server));
    listen(server);
  });
}

if (mode === 'stdio') echoLines(process.stdin, process.stdout);
else {
  const lines = join(folder, 'echo-lines.sock');
  const http = join(folder, 'echo-http.sock');
  createSocketServer((socket) =>
    echoLines(
      socket.on('error', () => {}),
      socket,
    ),
  ).listen(lines);
  await listenHttp((server) => server.listen(http));
  const tcp = await listenHttp((server) => server.listen(0, '127.0.0.1'));
  const url = `http://127.0.0.1:${(tcp.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ url, lines, http })}\n`);
}
