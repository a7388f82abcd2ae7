/** Envelopes as text frames. A client that does not read is not read from either; one that is gone is noticed. */
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { Connection } from '../dispatch/connection.ts';
import type { HostLimits } from '../sessions/host-limits.ts';
import type { Reach } from '../sessions/reach.ts';
import type { ServedSession } from '../sessions/served-session.ts';

export interface WebSocketService {
  readonly reach: Reach;
  /** The session of the greeting. */
  readonly served: ServedSession;
  readonly limits: HostLimits;
  readonly maxRequestBytes: number;
  readonly serverVersion: string;
  readonly onMissed: () => void;
  /** False once the token this connection came with is no longer good. */
  readonly isStillWelcome: () => boolean;
  /** `clean`: the client said goodbye, so it will not come back. */
  readonly onClose: (how: 'clean' | 'dropped') => void;
}

const POLICY = 1008;
const UNSUPPORTED = 1003;
/** For a client to answer the end of the connection with its own. */
const GOODBYE_MS = 1000;
/** Pings in a row. One may still lie unread on our own side, when this process was busy or asleep. */
const MAX_UNANSWERED = 2;

export function serveWebSocket(client: WebSocket, socket: Socket, service: WebSocketService): void {
  const { limits } = service;
  const isCongested = (): boolean => socket.writableLength > limits.maxUnsentBytes;
  const whenDrained = drainOf(socket);
  const connection = new Connection(service.reach, {
    send: corkedSend(client, socket),
    isCongested,
    room: () => (isCongested() ? whenDrained() : undefined),
    isGone: () => socket.destroyed,
    onMissed: service.onMissed,
    maxBytes: service.maxRequestBytes,
    maxHeldBytes: limits.maxHeldBytes,
    events: 'progress',
    serverVersion: service.serverVersion,
  });
  let isWaiting = false;
  let unanswered = 0;
  let taken = 0;

  /** While we do not read, no pong is seen; then it counts whether the client takes what it is sent. */
  function isMoving(): boolean {
    if (!isWaiting) return false;
    const before = taken;
    taken = socket.bytesWritten - socket.writableLength;
    return !isCongested() || taken > before;
  }

  /** Stops reading until there is room on both sides. */
  async function catchUp(): Promise<void> {
    if (isWaiting || (connection.place() === undefined && !isCongested())) return;
    isWaiting = true;
    client.pause();
    while (client.readyState === client.OPEN) {
      const place = connection.place();
      if (place !== undefined) await place;
      else if (isCongested()) await whenDrained();
      else break;
    }
    isWaiting = false;
    client.resume();
  }

  function sendAway(code: number, reason: string): void {
    client.close(code, reason);
    setTimeout(() => client.terminate(), GOODBYE_MS).unref();
  }

  const beat = setInterval(() => {
    if (!service.isStillWelcome()) return sendAway(POLICY, 'token is no longer valid');
    unanswered = isMoving() ? 0 : unanswered + 1;
    if (unanswered > MAX_UNANSWERED) return client.terminate();
    client.ping();
    if (!isCongested()) connection.beat();
    return undefined;
  }, limits.heartbeatMs);

  client.on('pong', () => {
    unanswered = 0;
  });
  client.on('message', (data: RawData, isBinary: boolean) => {
    // A refused client may go on sending for a while; it is ignored.
    if (client.readyState !== client.OPEN) return undefined;
    unanswered = 0;
    if (isBinary) return sendAway(UNSUPPORTED, 'envelopes are text frames');
    connection.receive(String(data));
    void catchUp();
    return undefined;
  });
  // A protocol error closes the connection; `close` follows and says all there is to say.
  client.on('error', () => {});
  client.on('close', (code) => {
    clearInterval(beat);
    connection.close();
    service.onClose(code === 1000 || code === 1001 ? 'clean' : 'dropped');
  });
  connection.greet(service.served);
}

/** Answers that come up together leave together: one system call, not one for each. */
function corkedSend(client: WebSocket, socket: Socket): (text: string) => void {
  let isCorked = false;
  const uncork = (): void => {
    isCorked = false;
    socket.uncork();
  };
  return (text) => {
    if (client.readyState !== client.OPEN) return;
    if (!isCorked) {
      isCorked = true;
      socket.cork();
      process.nextTick(uncork);
    }
    client.send(text);
  };
}

/** One promise for all who wait for the same moment. */
function drainOf(socket: Socket): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= new Promise((resolve) => {
      const done = (): void => {
        socket.off('drain', done);
        socket.off('close', done);
        next = undefined;
        resolve();
      };
      socket.on('drain', done);
      socket.on('close', done);
    });
    return next;
  };
}
