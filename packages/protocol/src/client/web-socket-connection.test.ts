import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { WebSocket as WsSocket } from 'ws';
import { type LoopbackOptions, startLoopback } from '../../test/loopback-host.ts';
import { ModelHost } from '../../test/model-host.ts';
import { rejection } from '../../test/rejection.ts';
import { SAMPLES } from '../../test/sample-messages.ts';
import type { ToolError } from '../primitives/errors.ts';
import { createToolClient } from './tool-client.ts';
import { type SocketEvent, type SocketLike, webSocketConnection } from './web-socket-connection.ts';

async function start(context: TestContext, options: Partial<LoopbackOptions> = {}, host = new ModelHost()) {
  const session = host.openSession();
  const loopback = await startLoopback(host, { session: () => session, ...options });
  context.after(() => loopback.close());
  return { host, loopback, session };
}

describe('a WebSocket connection', () => {
  for (const [name, WebSocket] of [
    ["Node's own WebSocket", globalThis.WebSocket],
    ['the ws package', WsSocket],
  ] as const) {
    test(`carries calls, events and heartbeats over ${name} [S0-10]`, async (context) => {
      const { host, loopback, session } = await start(context, { token: 'abc-1' });
      const client = createToolClient(webSocketConnection({ url: loopback.url, token: 'abc-1', WebSocket }));
      assert.equal((await client.ready()).session_id, session.id);
      const seen: string[] = [];
      const calls = Array.from({ length: 50 }, (_, index) =>
        client.call('t', { effect: `${index}`, text: 'ä€😀' }, { onEvent: ({ event }) => seen.push(event) }),
      );
      const data = (await Promise.all(calls)).map((response) => response.data);
      assert.deepEqual(
        data,
        calls.map((_, index) => ({ effect: `${index}`, text: 'ä€😀' })),
      );
      assert.deepEqual([seen.length, host.effects.size], [50, 50]);
      await client.heartbeat();
      await client.call('t', {});
      assert.equal(session.beats, 1);
      await client.close();
    });
  }

  test('sends the token as a sub-protocol, and never in the address', async (context) => {
    const { loopback } = await start(context, { token: 'secret' });
    const client = createToolClient(webSocketConnection({ url: loopback.url, token: 'secret' }));
    await client.ready();
    assert.deepEqual(loopback.upgrades, [{ url: '/v1/ws', protocols: 'tool-runtime.v1, bearer.secret' }]);
    await client.close();
  });

  test('a wrong token ends the client, and is told nowhere', async (context) => {
    const { loopback } = await start(context, { token: 'right' });
    const client = createToolClient(webSocketConnection({ url: loopback.url, token: 'wrong-token' }));
    for (const promise of [client.call('t', {}), client.ready()]) {
      const error = await rejection(promise);
      assert.equal(error.details['reason'], 'connection_closed');
      assert.doesNotMatch(JSON.stringify([error.message, error.details, String(error.cause)]), /wrong-token/);
    }
    assert.throws(() => webSocketConnection({ url: loopback.url, token: 'a b"c' }), {
      name: 'TypeError',
      message: /^(?!.*a b)/,
    });
  });

  test('no host at the address ends the client', async () => {
    const client = createToolClient(webSocketConnection({ url: 'ws://127.0.0.1:1' }));
    assert.equal((await rejection(client.call('t', {}))).details['reason'], 'connection_closed');
  });

  test('a drop in the middle of a call rejects it, with the reason the host gave', async (context) => {
    const { loopback } = await start(context, {
      onFrame: (_text, socket) => {
        socket.close(4001, 'going down');
        return false;
      },
    });
    const client = createToolClient(webSocketConnection({ url: loopback.url }));
    const { details } = await rejection(client.call('t', {}));
    assert.deepEqual(details, { reason: 'connection_closed', close_code: 4001, close_reason: 'going down' });
    assert.equal((await rejection(client.call('t', {}))).details['reason'], 'connection_closed');
  });

  test('garbage goes to onError; a broken answer ends its call, a broken event does not', async (context) => {
    const { loopback } = await start(context, {
      onFrame: (text, socket) => {
        const { request_id } = JSON.parse(text) as { request_id: string };
        const broken = { ...SAMPLES.ToolResponse, request_id, surprise: 1 };
        const event = { ...SAMPLES.EventMessage, request_id, progress: 5 };
        socket.send('{"half":');
        socket.send(Buffer.from([1, 2, 3]), { binary: true });
        socket.send('[]');
        socket.send(JSON.stringify(event));
        if (text.includes('"broken"')) socket.send(JSON.stringify(broken));
        return !text.includes('"broken"');
      },
    });
    const errors: ToolError[] = [];
    const client = createToolClient(webSocketConnection({ url: loopback.url }), { onError: (e) => errors.push(e) });
    await client.ready();
    assert.equal((await client.call('fine', {})).ok, true);
    assert.equal((await rejection(client.call('broken', {}))).code, 'E_VALIDATION_FAIL');
    assert.deepEqual(
      errors.map(({ code }) => code),
      Array.from({ length: 8 }, () => 'E_VALIDATION_FAIL'),
    );
    await client.close();
  });

  test('waits for room when the other side reads slowly, and keeps the order', async () => {
    const socket = new StuckSocket();
    const connection = webSocketConnection({
      url: 'ws://host',
      WebSocket: socket.constructorFor(),
      maxBufferedBytes: 10,
    });
    const early = connection.send({ ...SAMPLES.Heartbeat, session_id: 'early' });
    socket.open();
    await early;
    socket.bufferedAmount = 11;
    const sends = ['first', 'second'].map((session_id) => connection.send({ ...SAMPLES.Heartbeat, session_id }));
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.deepEqual(socket.sessions(), ['early']);
    socket.bufferedAmount = 10;
    await Promise.all(sends);
    assert.equal(connection.send({ ...SAMPLES.Heartbeat, session_id: 'third' }), undefined);
    assert.deepEqual(socket.sessions(), ['early', 'first', 'second', 'third']);
    socket.bufferedAmount = 11;
    const stuck = Promise.resolve(connection.send(SAMPLES.Heartbeat));
    socket.readyState = 3;
    assert.equal((await rejection(stuck)).details['reason'], 'connection_closed');
  });

  test('bulk to a real reader that pauses arrives complete', async (context) => {
    const { host, loopback } = await start(context, {
      onConnect: (socket) => {
        socket.pause();
        setTimeout(() => socket.resume(), 50);
      },
    });
    const client = createToolClient(webSocketConnection({ url: loopback.url, maxBufferedBytes: 1000 }));
    const text = 'x'.repeat(300_000);
    const calls = Array.from({ length: 20 }, (_, index) => client.call('t', { effect: `${index}`, text }));
    assert.ok((await Promise.all(calls)).every(({ ok }) => ok));
    assert.deepEqual(
      [...host.effects.keys()],
      calls.map((_, index) => `${index}`),
    );
    await client.close();
  });
});

/** A socket whose buffer is in the test's hands: no real one can be told to stay full. */
class StuckSocket implements SocketLike {
  readyState = 0;
  bufferedAmount = 0;
  readonly #sent: string[] = [];
  readonly #listeners = new Map<string, (event: SocketEvent) => void>();

  constructorFor(): new () => SocketLike {
    const socket = this;
    return class {
      constructor() {
        // biome-ignore lint/correctness/noConstructorReturn: the connection makes its socket itself
        return socket;
      }
    } as unknown as new () => SocketLike;
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, listener);
  }

  open(): void {
    this.readyState = 1;
    this.#listeners.get('open')?.({ type: 'open' });
  }

  send(text: string): void {
    this.#sent.push(text);
  }

  close(): void {
    this.readyState = 3;
  }

  sessions(): string[] {
    return this.#sent.map((text) => (JSON.parse(text) as { session_id: string }).session_id);
  }
}
