/** A bare TCP or Unix connection: bytes out, bytes in, and how it ended. Nothing here knows a protocol. */
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { within } from './within.ts';

export type Address = { readonly port: number } | { readonly path: string };

export interface RawSocket {
  readonly socket: Socket;
  /** What came and was not taken yet. */
  readonly received: Buffer;
  write(bytes: string | Uint8Array): void;
  /** Half-closes: no more from us. */
  end(): void;
  /** Cuts the connection without a goodbye. */
  cut(): void;
  /** Tries `take` on what is there until it gives something; the number says how many bytes it used up. */
  next<T>(take: (bytes: Buffer) => readonly [T, number] | undefined, what: string): Promise<T>;
  /** Resolves when the other side has ended the connection or it broke. */
  readonly ended: Promise<void>;
  readonly isEnded: boolean;
  [Symbol.dispose](): void;
}

export function addressOf(url: string): Address {
  return { port: Number(new URL(url).port) };
}

export async function openSocket(address: Address): Promise<RawSocket> {
  const options: NetConnectOpts =
    'port' in address ? { host: '127.0.0.1', port: address.port } : { path: address.path };
  const socket = connect({ ...options, noDelay: true, allowHalfOpen: true });
  const raw = wrap(socket);
  await within(
    new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    }),
    () => 'a connection',
  );
  return raw;
}

function wrap(socket: Socket): RawSocket {
  let received: Buffer = Buffer.alloc(0);
  let isEnded = false;
  let wake = (): void => {};
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const finish = (): void => {
    isEnded = true;
    resolve();
    wake();
  };
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on('end', finish);
  socket.on('error', finish);
  socket.on('close', finish);
  return {
    socket,
    ended,
    get received() {
      return received;
    },
    get isEnded() {
      return isEnded;
    },
    write(bytes) {
      if (!socket.destroyed) socket.write(bytes);
    },
    end: () => void socket.end(),
    cut: () => void socket.destroy(),
    async next(take, what) {
      for (;;) {
        const taken = take(received);
        if (taken !== undefined) {
          received = received.subarray(taken[1]);
          return taken[0];
        }
        if (isEnded) throw new TypeError(`The connection ended before ${what}: ${received.toString('latin1', 0, 500)}`);
        await within(
          new Promise<void>((more) => {
            wake = more;
          }),
          () => `${what}, after ${received.toString('latin1', 0, 500)}`,
        );
      }
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
