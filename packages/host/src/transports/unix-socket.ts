/**
 * A Unix socket that speaks both: JSON lines like stdio, or HTTP and WebSocket. The first byte tells them apart, since a
 * message begins with `{` and a request with a letter; whoever waits without a word is greeted as lines.
 */

import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';
import type { Principal } from '../auth/principal.ts';
import { Connection } from '../connection.ts';
import type { Host } from '../host/create-host.ts';
import { errorAnswer } from '../host/served-session.ts';
import { readLines } from './json-lines.ts';
import { LineWriter } from './line-writer.ts';

export interface UnixSocketService {
  readonly host: Host;
  readonly http: HttpServer;
  /** Whom the kernel says is at the other end; undefined refuses lines, and makes HTTP need a token. */
  readonly principalOf: (socket: Socket) => Principal | undefined;
}

/** How long a silent client may still turn out to speak HTTP. */
const SILENCE_MS = 100;

export function createUnixServer(service: UnixSocketService): Server {
  const { host, http } = service;
  const server = createServer({ pauseOnConnect: false, allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    const silence = setTimeout(() => take(Buffer.alloc(0)), SILENCE_MS);
    const take = (first: Buffer): void => {
      clearTimeout(silence);
      socket.off('data', take);
      socket.pause();
      if (isLetter(first[0])) http.emit('connection', socket);
      else void serveLines(socket, service);
      // Only now: the HTTP server reads past what is in the buffer before it has taken the socket.
      if (first.length > 0) socket.unshift(first);
      process.nextTick(() => socket.resume());
    };
    socket.once('data', take);
    socket.once('close', () => clearTimeout(silence));
  });
  server.maxConnections = host.limits.maxConnections;
  return server;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x41 && byte <= 0x5a;
}

async function serveLines(socket: Socket, { host, principalOf }: UnixSocketService): Promise<void> {
  const gone = new AbortController();
  const writer = new LineWriter(socket, () => gone.abort());
  const goAway = (): void => void socket.end();
  host.connections += 1;
  host.goingAway.add(goAway);
  try {
    const principal = principalOf(socket);
    if (principal === undefined) throw unknownPeer();
    const session = await host.openSession(principal, { client: { name: 'unix socket' } }, { isOfConnection: true });
    const connection = new Connection(host.reach(principal), {
      send: (text) => writer.write(text),
      isCongested: () => socket.writableLength > host.limits.maxUnsentBytes,
      onMissed: () => {
        host.eventsMissed += 1;
      },
      maxBytes: host.maxRequestBytes,
      maxHeldBytes: host.limits.maxHeldBytes,
      events: 'progress',
      serverVersion: host.serverVersion,
    });
    connection.greet(session.served);
    const beat = setInterval(() => connection.beat(), host.limits.heartbeatMs);
    await readLines(socket, { connection, writer, signal: gone.signal, maxRequestBytes: host.maxRequestBytes });
    clearInterval(beat);
    if (!gone.signal.aborted) await connection.drain();
    connection.close();
    // Its input ended in order: the client is done. One that was cut off may come back.
    if (!gone.signal.aborted) await host.closeSession(session, { cancel: false });
  } catch (thrown) {
    writer.write(JSON.stringify(errorAnswer(thrown, null)));
  } finally {
    host.connections -= 1;
    host.goingAway.delete(goAway);
    socket.end();
    socket.resume();
  }
}

function unknownPeer(): ToolError {
  return new ToolError('E_POLICY', 'The kernel does not vouch for this peer', {
    details: {
      gate: 'auth',
      reason: 'token_missing',
      next: 'connect as the user of the host, or use HTTP with a token',
    },
  });
}
