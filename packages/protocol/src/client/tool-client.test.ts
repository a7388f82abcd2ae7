import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createConnectionPair, type HostEnd } from '../../test/memory-connection.ts';
import { rejection } from '../../test/rejection.ts';
import { SAMPLES } from '../../test/sample-messages.ts';
import type { ToolRequest } from '../envelopes/from-client/tool-request.ts';
import type { EventMessage } from '../envelopes/from-host/event-message.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import type { ToolError } from '../primitives/errors.ts';
import { createToolClient } from './tool-client.ts';
import type { ToolClientOptions } from './tool-client-interface.ts';

const ack = SAMPLES.SessionAck;

function open(options: ToolClientOptions = {}) {
  const { connection, host } = createConnectionPair();
  return { client: createToolClient(connection, options), host };
}

function openAcknowledged(options: ToolClientOptions = {}) {
  const pair = open(options);
  pair.host.send(ack);
  return pair;
}

const responseTo = (request: ToolRequest, data: ToolResponse['data']): ToolResponse => ({
  ...SAMPLES.ToolResponse,
  tool: request.tool,
  request_id: request.request_id,
  data,
});

const eventFor = (request: ToolRequest, pct: number): EventMessage => ({
  ...SAMPLES.EventMessage,
  request_id: request.request_id,
  progress: { pct, message: 'm' },
});

async function nextRequest(host: HostEnd): Promise<ToolRequest> {
  const message = await host.next();
  assert.ok(message.type === 'ToolRequest');
  return message;
}

/** Lets everything that is already under way in this process finish. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('tool client calls', () => {
  test('sends a ToolRequest with the session, a fresh id and Unix seconds [S0-3]', async () => {
    const { client, host } = openAcknowledged({ now: () => 1_731_662_400_250, newId: () => 'id-1' });
    const call = client.call('file_read', { path: 'a' }, { idempotencyKey: 'key', timeoutMs: 50 });
    const request = await nextRequest(host);
    assert.deepEqual(request, {
      type: 'ToolRequest',
      request_id: 'id-1',
      session_id: 'session-1',
      timestamp: 1_731_662_400,
      idempotency_key: 'key',
      timeout_ms: 50,
      tool: 'file_read',
      args: { path: 'a' },
    });
    host.send(responseTo(request, { content: 'x' }));
    assert.deepEqual(await call, responseTo(request, { content: 'x' }));
  });

  test('waits for the SessionAck before it sends anything, then keeps the order', async () => {
    const { client, host } = open();
    void client.call('first', {}).catch(() => undefined);
    void client.call('second', {}, { signal: new AbortController().signal }).catch(() => undefined);
    await settle();
    assert.deepEqual(host.received, []);
    host.send(ack);
    assert.deepEqual(await client.ready(), ack);
    assert.equal((await nextRequest(host)).tool, 'first');
    assert.equal((await nextRequest(host)).tool, 'second');
    await client.close();
  });

  test('with a given session does not wait', async () => {
    const { client, host } = open({ sessionId: 'mine' });
    const call = client.call('t', {});
    const request = await nextRequest(host);
    assert.equal(request.session_id, 'mine');
    host.send(responseTo(request, null));
    assert.equal((await call).ok, true);
  });

  test('routes interleaved answers and events to their own calls [S0-10]', async () => {
    const { client, host } = openAcknowledged();
    const seen: string[] = [];
    const start = (tool: string) =>
      client.call(tool, {}, { onEvent: (event) => seen.push(`${tool} ${event.progress.pct}`) });
    const calls = [start('a'), start('b')];
    const [a, b] = [await nextRequest(host), await nextRequest(host)];
    assert.notEqual(a.request_id, b.request_id);
    host.send(eventFor(b, 10));
    host.send(eventFor(a, 20));
    host.send(responseTo(b, 'for b'));
    host.send(responseTo(a, 'for a'));
    assert.deepEqual(
      (await Promise.all(calls)).map((response) => response.data),
      ['for a', 'for b'],
    );
    assert.deepEqual(seen, ['b 10', 'a 20']);
  });

  test('ignores events and further answers after the terminal message [S0-10]', async () => {
    const { client, host } = openAcknowledged();
    const seen: number[] = [];
    const call = client.call('a', {}, { onEvent: (event) => seen.push(event.progress.pct) });
    const request = await nextRequest(host);
    host.send(eventFor(request, 50));
    host.send(responseTo(request, 1));
    host.send(eventFor(request, 100));
    host.send(responseTo(request, 2));
    host.send({ ...SAMPLES.ErrorMessage, request_id: request.request_id });
    assert.equal((await call).data, 1);
    await settle();
    assert.deepEqual(seen, [50]);
    await client.close();
  });

  test('resolves with an answer that is not ok: the tool was reached [S0-4]', async () => {
    const { client, host } = openAcknowledged();
    const call = client.call('a', {});
    const request = await nextRequest(host);
    const refused: ToolResponse = {
      ...responseTo(request, null),
      ok: false,
      errors: [{ code: 'E_GIT', message: 'm' }],
    };
    host.send(refused);
    assert.deepEqual(await call, refused);
  });

  test('rejects with the code, message and details of an ErrorMessage [S0-6]', async () => {
    const { client, host } = openAcknowledged();
    const call = client.call('a', {});
    const { request_id } = await nextRequest(host);
    host.send({
      type: 'ErrorMessage',
      code: 'E_POLICY',
      message: 'Session expired',
      request_id,
      details: { reason: 'x' },
    });
    const { code, message, details } = await rejection(call);
    assert.deepEqual(
      { code, message, details },
      { code: 'E_POLICY', message: 'Session expired', details: { reason: 'x' } },
    );
  });

  test('takes its types from the map it is given', async () => {
    interface Tools {
      readonly file_read: { readonly args: { readonly path: string }; readonly data: { readonly content: string } };
    }
    const { connection, host } = createConnectionPair();
    const client = createToolClient<Tools>(connection, { sessionId: 's' });
    const call = client.call('file_read', { path: 'a' });
    host.send(responseTo(await nextRequest(host), { content: 'text' }));
    const content: string | undefined = (await call).data?.content;
    assert.equal(content, 'text');
    const wrong = () => [
      // @ts-expect-error an argument that the map does not have
      client.call('file_read', { file: 'a' }),
      // @ts-expect-error a tool that the map does not have
      client.call('file_write', { path: 'a' }),
    ];
    assert.equal(typeof wrong, 'function');
  });

  test('refuses an id that is still in use', async () => {
    const { client, host } = openAcknowledged({ newId: () => 'same' });
    const first = client.call('a', {});
    const request = await nextRequest(host);
    await assert.rejects(client.call('b', {}), TypeError);
    host.send(responseTo(request, null));
    await first;
    const again = client.call('b', {});
    host.send(responseTo(await nextRequest(host), 'again'));
    assert.equal((await again).data, 'again');
  });
});

describe('tool client cancellation', () => {
  test('sends a CancelRequest and still waits for how the call ended', async () => {
    const { client, host } = openAcknowledged({ now: () => 5000 });
    const controller = new AbortController();
    const call = client.call('a', {}, { signal: controller.signal });
    const request = await nextRequest(host);
    controller.abort();
    const { request_id, session_id } = request;
    assert.deepEqual(await host.next(), { type: 'CancelRequest', request_id, session_id, timestamp: 5 });
    host.send(responseTo(request, 'was done already'));
    assert.equal((await call).data, 'was done already');
  });

  test('sends nothing when aborted before the call or before the session is there', async () => {
    const { client, host } = open();
    const controller = new AbortController();
    const waiting = client.call('a', {}, { signal: controller.signal });
    controller.abort();
    for (const call of [waiting, client.call('b', {}, { signal: controller.signal })]) {
      const { code, details } = await rejection(call);
      assert.deepEqual({ code, details }, { code: 'E_INTERNAL', details: { reason: 'cancelled' } });
    }
    host.send(ack);
    await client.ready();
    await settle();
    assert.deepEqual(host.received, []);
  });

  test('sends no CancelRequest once the call has ended', async () => {
    const { client, host } = openAcknowledged();
    const controller = new AbortController();
    const call = client.call('a', {}, { signal: controller.signal });
    host.send(responseTo(await nextRequest(host), null));
    await call;
    controller.abort();
    await settle();
    assert.equal(host.received.length, 1);
  });
});

describe('tool client sessions', () => {
  test('sends a Heartbeat and is not disturbed by one [S0-7]', async () => {
    const { client, host } = openAcknowledged({ now: () => 1500 });
    host.send(SAMPLES.Heartbeat);
    await client.heartbeat();
    assert.deepEqual(await host.next(), { type: 'Heartbeat', session_id: 'session-1', timestamp: 1 });
    assert.equal(host.received.length, 1);
  });

  const refusals = [
    ['a refused SessionAck', { ...ack, accepted: false }, {}, 'E_POLICY', 'session_refused'],
    ['the ack of another session', ack, { sessionId: 'mine' }, 'E_POLICY', 'session_mismatch'],
    [
      'an error before the session',
      { ...SAMPLES.ErrorMessage, request_id: null, details: { reason: 'bad_token' } },
      {},
      'E_POLICY',
      'bad_token',
    ],
  ] as const;
  for (const [name, message, options, code, reason] of refusals) {
    test(`${name} ends the client: ready and calls are rejected`, async () => {
      const { client, host } = open(options);
      const early = client.call('a', {});
      host.send(message);
      for (const promise of [early, client.ready()]) {
        const error = await rejection(promise);
        assert.deepEqual([error.code, error.details['reason']], [code, reason]);
      }
      assert.equal((await rejection(client.call('late', {}))).code, code);
    });
  }

  for (const [name, end] of [
    ['ends', (host: HostEnd) => host.drop()],
    ['breaks', (host: HostEnd) => host.drop(new TypeError('reset'))],
  ] as const) {
    test(`rejects every open call when the connection ${name}, and every later one`, async () => {
      const { client, host } = openAcknowledged();
      const calls = [client.call('a', {}), client.call('b', {})];
      await nextRequest(host);
      end(host);
      const assertClosed = async (promise: Promise<unknown>) => {
        const { code, details } = await rejection(promise);
        assert.deepEqual({ code, details }, { code: 'E_INTERNAL', details: { reason: 'connection_closed' } });
      };
      await Promise.all(calls.map(assertClosed));
      await assertClosed(client.call('late', {}));
      await assertClosed(client.heartbeat());
      assert.deepEqual(await client.ready(), ack);
    });
  }

  test('close ends the connection and every open call', async () => {
    const { client, host } = openAcknowledged();
    const call = client.call('a', {});
    await nextRequest(host);
    const rejected = rejection(call);
    await client.close();
    assert.equal((await rejected).details['reason'], 'connection_closed');
    assert.equal(host.isClosed, true);
  });

  test('a message that cannot be sent rejects only its own call', async () => {
    const { client, host } = openAcknowledged();
    const sent = client.call('a', {});
    const request = await nextRequest(host);
    host.breakSending(new TypeError('pipe'));
    assert.equal((await rejection(client.call('b', {}))).details['reason'], 'send_failed');
    assert.equal((await rejection(client.heartbeat())).details['reason'], 'send_failed');
    host.send(responseTo(request, 'fine'));
    assert.equal((await sent).data, 'fine');
  });

  test('failures that belong to no call go to onError and leave the calls alone', async () => {
    const errors: ToolError[] = [];
    const { client, host } = openAcknowledged({ onError: (error) => errors.push(error) });
    const call = client.call(
      'a',
      {},
      {
        onEvent: () => {
          throw new TypeError('listener');
        },
      },
    );
    const request = await nextRequest(host);
    host.send({ ...SAMPLES.ErrorMessage, request_id: null });
    host.send(eventFor(request, 1));
    host.send(responseTo(request, 'fine'));
    assert.equal((await call).data, 'fine');
    assert.deepEqual(
      errors.map((error) => error.code),
      ['E_POLICY', 'E_INTERNAL'],
    );
  });
});

describe('tool client events', () => {
  const news = (id: number): EventMessage => ({ ...SAMPLES.EventMessage, request_id: 'other', id });

  async function ids(events: AsyncIterable<EventMessage>, count: number): Promise<(number | undefined)[]> {
    const seen: (number | undefined)[] = [];
    for await (const { id } of events) if (seen.push(id) === count) break;
    return seen;
  }

  test('join the session and begin with the SessionAck that answers it', async () => {
    const { client, host } = openAcknowledged();
    const events = client.events({ events: 'all', after: 4 });
    assert.deepEqual(await host.next(), { type: 'SessionAttach', session_id: 'session-1', events: 'all', after: 4 });
    host.send(news(9));
    host.send(ack);
    for (const id of [4, 5, 6, 6, 9]) host.send(news(id));
    assert.deepEqual(await ids(events, 3), [5, 6, 9]);
    await client.close();
  });

  test('several listeners join one after the other, with the widest level that any of them wants', async () => {
    const { client, host } = openAcknowledged();
    const first = client.events({ after: 7 });
    const attach = await host.next();
    assert.ok(attach.type === 'SessionAttach' && attach.events === 'progress');
    const second = client.events({ events: 'all', after: 2 });
    await settle();
    assert.equal(host.received.length, 1);
    host.send(ack);
    host.send(news(8));
    assert.deepEqual(await host.next(), { type: 'SessionAttach', session_id: 'session-1', events: 'all', after: 2 });
    host.send(news(9));
    host.send(ack);
    for (const id of [3, 8, 9]) host.send(news(id));
    assert.deepEqual(
      [await ids(first, 2), await ids(second, 3)],
      [
        [8, 9],
        [3, 8, 9],
      ],
    );
    await client.close();
  });

  test('end with close, throw what breaks the connection, and reject when they cannot be had', async () => {
    const closed = openAcknowledged();
    const quiet = closed.client.events();
    await closed.host.next();
    await closed.client.close();
    assert.equal((await quiet.next()).done, true);
    const broken = openAcknowledged();
    const loud = broken.client.events();
    await broken.host.next();
    broken.host.drop(new TypeError('reset'));
    assert.equal((await rejection(loud.next())).details['reason'], 'connection_closed');
    assert.equal((await rejection(broken.client.events().next())).details['reason'], 'connection_closed');
  });

  test('of a call come once, also when a resumed connection repeats them', async () => {
    const { client, host } = openAcknowledged();
    const seen: (number | undefined)[] = [];
    const call = client.call('a', {}, { onEvent: ({ id }) => seen.push(id) });
    const request = await nextRequest(host);
    for (const id of [1, 2, 1, 2, 3]) host.send({ ...eventFor(request, 1), id });
    host.send(responseTo(request, null));
    await call;
    assert.deepEqual(seen, [1, 2, 3]);
    await client.close();
  });
});

describe('tool client heartbeats and retries', () => {
  test('beats by itself once there is a session, until it is closed [S0-7]', async () => {
    const { client, host } = open({ heartbeatMs: 2 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(host.received.length, 0);
    host.send(ack);
    for (let beat = 0; beat < 3; beat += 1) assert.equal((await host.next()).type, 'Heartbeat');
    await client.close();
    await settle();
    const count = host.received.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(host.received.length, count);
    assert.throws(() => open({ heartbeatMs: 0 }), TypeError);
  });

  test('a heartbeat that cannot be sent goes to onError', async () => {
    const { promise, resolve } = Promise.withResolvers<ToolError>();
    const { client, host } = openAcknowledged({ heartbeatMs: 2, onError: resolve });
    host.breakSending(new TypeError('pipe'));
    assert.equal((await promise).details['reason'], 'send_failed');
    await client.close();
  });

  test('repeats a call that was refused for a while, with one key and a new id', async () => {
    const { client, host } = openAcknowledged();
    const call = client.call('a', {}, { retry: { attempts: 2 } });
    const first = await nextRequest(host);
    const busy = { reason: 'limit_reached', retry_after_ms: 1 };
    host.send({ ...SAMPLES.ErrorMessage, request_id: first.request_id, details: busy });
    const second = await nextRequest(host);
    assert.ok(first.idempotency_key !== undefined && first.idempotency_key === second.idempotency_key);
    assert.notEqual(first.request_id, second.request_id);
    host.send(responseTo(second, 'done'));
    assert.equal((await call).data, 'done');
  });

  test('does not repeat without being told to, nor on a connection that is gone', async () => {
    const { client, host } = openAcknowledged();
    const call = client.call('a', {});
    const { request_id } = await nextRequest(host);
    host.send({ ...SAMPLES.ErrorMessage, request_id, details: { retry_after_ms: 1 } });
    await rejection(call);
    const last = client.call('a', {}, { idempotencyKey: 'mine', retry: { attempts: 9 } });
    assert.equal((await nextRequest(host)).idempotency_key, 'mine');
    host.drop();
    assert.equal((await rejection(last)).details['reason'], 'connection_closed');
    assert.equal(host.received.length, 2);
  });

  test('a cancel that cannot be sent goes to onError; the call still gets its answer', async () => {
    const errors: ToolError[] = [];
    const { client, host } = openAcknowledged({ onError: (error) => errors.push(error) });
    const controller = new AbortController();
    const call = client.call('a', {}, { signal: controller.signal });
    const request = await nextRequest(host);
    host.breakSending(new TypeError('pipe'));
    controller.abort();
    await settle();
    host.send(responseTo(request, 'done'));
    assert.equal((await call).data, 'done');
    assert.equal(errors[0]?.details['reason'], 'send_failed');
  });
});
