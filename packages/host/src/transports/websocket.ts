/** Envelopes as text frames. A client that does not read is not read from either; one that is gone is noticed. */
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { Connection } from '../connection.ts';
import type { Reach } from '../dispatch.ts';
import type { HostLimits } from '../host/host-limits.ts';
import type { ServedSession } from '../host/served-session.ts';

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
/** Pings in a row. One may still lie unread on our own side, when this process was busy or asleep. */
const MAX_UNANSWERED = 2;

export function serveWebSocket(client: WebSocket, socket: Socket, service: WebSocketService): void {
  const { limits } = service;
  const isCongested = (): boolean => socket.writableLength > limits.maxUnsentBytes;
  const connection = new Connection(service.reach, {
    send: corkedSend(client, socket),
    isCongested,
    onMissed: service.onMissed,
    maxBytes: service.maxRequestBytes,
    maxHeldBytes: limits.maxHeldBytes,
    events: 'progress',
    serverVersion: service.serverVersion,
  });
  let isWaiting = false;
  let unanswered = 0;

  /** Stops reading until there is room on both sides. */
  async function catchUp(): Promise<void> {
    if (isWaiting || (connection.place() === undefined && !isCongested())) return;
    isWaiting = true;
    client.pause();
    while (client.readyState === client.OPEN) {
      const place = connection.place();
      if (place !== undefined) await place;
      else if (isCongested()) await drained(socket);
      else break;
    }
    isWaiting = false;
    client.resume();
  }

  const beat = setInterval(() => {
    if (!service.isStillWelcome()) return client.close(POLICY, 'token is no longer valid');
    if (unanswered === MAX_UNANSWERED) return client.terminate();
    unanswered += 1;
    client.ping();
    if (!isCongested()) connection.beat();
    return undefined;
  }, limits.heartbeatMs);

  client.on('pong', () => {
    unanswered = 0;
  });
  client.on('message', (data: RawData, isBinary: boolean) => {
    unanswered = 0;
    if (isBinary) return client.close(UNSUPPORTED, 'envelopes are text frames');
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

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
