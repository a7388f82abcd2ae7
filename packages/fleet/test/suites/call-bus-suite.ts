/** What carries calls to a host, a socket or a tunnel, must do: bytes in order, ends that are told, and no host told at once. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';

export interface CallBus {
  /** Hands every connection to the workspace to `accept`, until it is stopped. */
  serve(accept: (socket: Duplex) => void): Promise<{ stop(): Promise<void> }>;
  open(): Duplex;
}

export function callBusSuite(name: string, open: (t: TestContext) => Promise<CallBus>): void {
  describe(`${name} as a call bus`, { concurrency: true }, () => {
    test('an answer comes back whole, of several connections at once', async (t) => {
      const bus = await open(t);
      const serving = await bus.serve((socket) => void socket.on('error', () => {}).pipe(socket));
      await Promise.all(
        Array.from({ length: 4 }, async (_, at) => {
          const sent = randomBytes(100_000 * (at + 1));
          // A connection may drop at any time, and then says so: the caller sends again.
          const got = await untilWhole(() => ask(bus, sent), sent.length);
          assert.ok(got.equals(sent));
        }),
      );
      await serving.stop();
    });

    test('a connection to a host that stops ends, and a new one finds no host', async (t) => {
      const bus = await open(t);
      const accepted = Promise.withResolvers<void>();
      const serving = await bus.serve((socket) => {
        socket.on('error', () => {});
        accepted.resolve();
      });
      const socket = bus.open().on('error', () => {});
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write('hello');
      await accepted.promise;
      await serving.stop();
      await closed;
      const late = bus.open();
      const refused = new Promise((resolve) => late.once('error', resolve));
      late.write('hello');
      assert.ok(await refused);
    });
  });
}

async function ask(bus: CallBus, sent: Buffer): Promise<Buffer> {
  const socket = bus.open();
  socket.end(sent);
  return buffer(socket);
}

async function untilWhole(work: () => Promise<Buffer>, length: number): Promise<Buffer> {
  for (;;) {
    const got = await work().catch(() => undefined);
    if (got?.length === length) return got;
  }
}
