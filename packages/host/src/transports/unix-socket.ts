/**
 * A Unix socket that speaks both: JSON lines like stdio, or HTTP and WebSocket. The first byte tells them apart, since a
 * message begins with `{` and a request with a letter. A client that sends nothing is treated as JSON lines after a while;
 * one in a hurry sends an empty line.
 */
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { ToolError } from '@tool-runtime/protocol';
import type { Principal } from '../auth/principal.ts';
import { Connection } from '../dispatch/connection.ts';
import type { Host } from '../sessions/create-host.ts';
import { errorAnswer } from '../sessions/refusals.ts';
import { endSocket } from './end-socket.ts';
import { readLines } from './json-lines.ts';
import { LineWriter } from './line-writer.ts';

export interface UnixSocketService {
  readonly host: Host;
  readonly http: HttpServer;
  /** Whom the kernel says is at the other end; undefined refuses lines, and makes HTTP need a token. */
  readonly principalOf: (socket: Socket) => Principal | undefined;
  /** Whom a refusal is counted against. */
  readonly sourceOf: (socket: Socket) => string;
}

/** How long a silent client may still turn out to speak HTTP. */
const SILENCE_MS = 500;

/** Answers that may wait to be read before the client is not read from either. */
const UNSENT_BYTES = 256 * 1024;

export function createUnixServer(service: UnixSocketService): Server {
  const { host, http } = service;
  const server = createServer({ pauseOnConnect: false, allowHalfOpen: true, highWaterMark: UNSENT_BYTES }, (socket) => {
    socket.on('error', () => socket.destroy());
    const decide = (first: Buffer): void => {
      clearTimeout(silence);
      socket.off('data', decide);
      socket.off('end', leave);
      socket.pause();
      if (isLetter(first[0])) handToHttp(http, socket, first);
      else {
        if (first.length > 0) socket.unshift(first);
        void serveLines(socket, service);
      }
    };
    const leave = (): void => void socket.destroy();
    const silence = setTimeout(() => {
      // Pending input is read first: the delay may have been on our side.
      setImmediate(() => {
        if (socket.listeners('data').includes(decide)) decide(Buffer.alloc(0));
      });
    }, SILENCE_MS);
    socket.on('data', decide);
    socket.once('end', leave);
    socket.once('close', () => {
      clearTimeout(silence);
      socket.off('data', decide);
    });
  });
  server.maxConnections = host.limits.maxConnections;
  // It watches over its time limits from the moment it listens, which it never does itself.
  server.once('listening', () => http.emit('listening'));
  return server;
}

/** The HTTP server takes a new socket for one without anything in its buffer, and for one that is not paused. */
function handToHttp(http: HttpServer, socket: Socket, first: Buffer): void {
  http.emit('connection', socket);
  socket.unshift(first);
  process.nextTick(() => socket.resume());
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x41 && byte <= 0x5a;
}

async function serveLines(socket: Socket, { host, principalOf, sourceOf }: UnixSocketService): Promise<void> {
  const gone = new AbortController();
  const writer = new LineWriter(socket, () => gone.abort());
  host.connections += 1;
  socket.once('close', () => {
    host.connections -= 1;
  });
  try {
    const principal = host.attempts.judge(sourceOf(socket), () => {
      const peer = principalOf(socket);
      if (peer === undefined) throw unknownPeer();
      return peer;
    });
    const session = await host.openSession(principal, { client: { name: 'unix socket' } }, { isOfConnection: true });
    const isCongested = (): boolean => socket.writableLength > host.limits.maxUnsentBytes;
    const connection = new Connection(host.reach(principal), {
      send: (text) => writer.write(text),
      isCongested,
      room: () => (isCongested() ? writer.ready() : undefined),
      isGone: () => writer.isGone,
      maxBytes: host.maxRequestBytes,
      maxHeldBytes: host.limits.maxHeldBytes,
      events: 'progress',
      serverVersion: host.serverVersion,
    });
    connection.greet(session.served);
    const beat = setInterval(() => connection.beat(), host.limits.heartbeatMs);
    await readLines(socket, { connection, writer, signal: gone.signal, maxRequestBytes: host.maxRequestBytes });
    clearInterval(beat);
    if (await isStillReading(connection, writer)) await connection.drain();
    connection.close();
    // Its input ended in order: the client is done. One that was cut off may come back.
    if (!gone.signal.aborted && session.served.listeners === 0) await host.closeSession(session, { children: 'end' });
  } catch (thrown) {
    writer.write(JSON.stringify(errorAnswer(thrown, null)));
  } finally {
    endSocket(socket);
  }
}

/** Whether a client that sends no more still reads: the end of its process looks the same until we write to it. */
async function isStillReading(connection: Connection, writer: LineWriter): Promise<boolean> {
  if (writer.isGone) return false;
  connection.beat();
  await writer.flush();
  await new Promise((resolve) => setImmediate(resolve));
  return !writer.isGone;
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
