import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type LoopbackOptions, readText, sendJson, startLoopback } from '../../test/loopback-host.ts';
import { ModelHost, type ModelHostOptions, refusal } from '../../test/model-host.ts';
import { rejection } from '../../test/rejection.ts';
import type { EventMessage } from '../envelopes/from-host/event-message.ts';
import type { ToolError } from '../primitives/errors.ts';
import type { FetchLike } from './host-wire.ts';
import { httpConnection } from './http-connection.ts';
import { createToolClient } from './tool-client.ts';

interface StartOptions extends Partial<LoopbackOptions> {
  readonly model?: ModelHostOptions;
}

async function start(context: TestContext, { model = {}, ...options }: StartOptions = {}) {
  const host = new ModelHost(model);
  const session = host.openSession();
  const loopback = await startLoopback(host, { session: () => session, ...options });
  context.after(() => loopback.close());
  const errors: ToolError[] = [];
  const open = (token?: string, fetch?: FetchLike) => {
    const connection = httpConnection({
      url: loopback.url,
      session: { session_id: session.id, server_version: '9.9.9' },
      ...(token === undefined ? {} : { token }),
      ...(fetch === undefined ? {} : { fetch }),
    });
    const client = createToolClient(connection, { sessionId: session.id, onError: (error) => errors.push(error) });
    context.after(() => client.close());
    return client;
  };
  return { host, loopback, session, open, errors };
}

async function take(events: AsyncIterable<EventMessage>, count: number): Promise<string[]> {
  const names: string[] = [];
  for await (const { event } of events) {
    names.push(event);
    if (names.length === count) break;
  }
  return names;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('an HTTP connection', () => {
  test('carries calls and heartbeats, each as one POST with the token in its header [S0-10]', async (context) => {
    const { loopback, open, session } = await start(context, { token: 'abc' });
    const client = open('abc');
    assert.equal((await client.ready()).server_version, '9.9.9');
    const calls = Array.from({ length: 20 }, (_, index) => client.call('t', { effect: `${index}` }));
    assert.ok((await Promise.all(calls)).every(({ ok }) => ok));
    await client.heartbeat();
    assert.equal(session.beats, 1);
    assert.equal(loopback.requests.length, 21);
    assert.deepEqual(
      new Set(loopback.requests.map(({ url, token }) => `${url} ${token}`)),
      new Set(['/v1/call Bearer abc']),
    );
  });

  test('asks for events only when there is a listener', async (context) => {
    const { loopback, open, session } = await start(context);
    const client = open();
    await client.call('t', {});
    const streams = () => loopback.requests.filter(({ url }) => url.startsWith('/v1/events'));
    assert.deepEqual(streams(), []);
    const first = take(client.events(), 1);
    await until(() => session.listeners.size === 1);
    await client.call('t', {});
    assert.deepEqual(await first, ['TaskProgress']);
    assert.equal(streams().length, 1);
  });

  test('keeps the events of a running call coming to onEvent', async (context) => {
    const gate = Promise.withResolvers<void>();
    const { open, host, session } = await start(context, { model: { work: () => gate.promise } });
    const client = open();
    const seen: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = client.call(
      't',
      {},
      {
        onEvent: ({ event }) => {
          seen.push(event);
          if (event === 'Second') resolve();
        },
      },
    );
    await until(() => session.running.size === 1);
    const [requestId = ''] = session.running.keys();
    host.announce(session, 'Second', requestId);
    await promise;
    gate.resolve();
    await call;
    assert.deepEqual(seen, ['TaskProgress', 'Second']);
  });

  test('opens a stream of events that was cut again, after the last one seen', async (context) => {
    const { host, loopback, open, session } = await start(context);
    const client = open();
    const events = client.events();
    const names = take(events, 4);
    await until(() => session.listeners.size === 1);
    host.announce(session, 'One', 'r');
    host.announce(session, 'Two', 'r');
    await until(() => loopback.requests.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    loopback.cutAll();
    await until(() => session.listeners.size === 0);
    host.announce(session, 'Three', 'r');
    host.announce(session, 'Four', 'r');
    assert.deepEqual(await names, ['One', 'Two', 'Three', 'Four']);
    assert.match(loopback.requests.at(-1)?.url ?? '', /after=2/);
  });

  test('posts a cancel and still waits for how the call ended', async (context) => {
    const gate = Promise.withResolvers<void>();
    const { host, open, session } = await start(context, { model: { work: () => gate.promise } });
    const controller = new AbortController();
    const call = open().call('t', {}, { signal: controller.signal });
    await until(() => session.running.size === 1);
    controller.abort();
    await until(() => host.received.at(-1)?.type === 'CancelRequest');
    gate.resolve();
    assert.equal((await rejection(call)).details['reason'], 'cancelled');
  });

  test('a wrong token rejects the call with status 401 and leaves the client usable', async (context) => {
    const { open } = await start(context, { token: 'right' });
    const client = open('wrong');
    const error = await rejection(client.call('t', {}));
    assert.deepEqual([error.code, error.details], ['E_POLICY', { reason: 'token_invalid', status: 401 }]);
    assert.equal((await open('right').call('t', {})).ok, true);
  });

  test('answers that are lost, cut in half or not from a host reject their own call only', async (context) => {
    const faults = ['cut', 'half', 'html', 'other', 'half-json'];
    const { open } = await start(context, {
      async onHttp(request, response) {
        const fault = faults.shift();
        if (fault === undefined) return false;
        await readText(request);
        if (fault === 'cut') request.socket.destroy();
        else if (fault === 'html') response.writeHead(502).end('<html>');
        else if (fault === 'other') sendJson(response, 200, refusal('another', 'E_GIT', 'x'));
        else if (fault === 'half-json') response.writeHead(200).end('{"type":"ToolResp');
        else {
          response.writeHead(200, { 'content-length': 100 });
          response.write('{"type":');
          setTimeout(() => request.socket.destroy(), 5);
        }
        return true;
      },
    });
    const client = open();
    for (const reason of ['no_answer', 'no_answer', 'bad_answer', 'bad_answer', 'bad_answer']) {
      const error = await rejection(client.call('t', {}));
      assert.deepEqual([error.code, error.details['reason']], ['E_HTTP', reason]);
    }
    assert.equal((await client.call('t', {})).ok, true);
  });

  test('repeats a call with a key when its answer was lost or the host is busy: one effect', async (context) => {
    let count = 0;
    const { host, open } = await start(context, {
      onHttp(request, response) {
        count += 1;
        // The first copy reaches the host, and its answer is thrown away.
        if (count === 1) response.writeHead = () => request.socket.destroy() as never;
        if (count !== 2) return false;
        response.setHeader('retry-after', '0');
        sendJson(response, 429, { ...refusal(null, 'E_POLICY', 'limit_reached') });
        return true;
      },
    });
    const response = await open().call('t', { effect: 'once' }, { retry: { attempts: 5 } });
    assert.deepEqual([response.data, host.countOf('once'), count], [{ effect: 'once' }, 1, 3]);
    const keys = host.received.flatMap((message) => (message.type === 'ToolRequest' ? [message.idempotency_key] : []));
    assert.equal(new Set(keys).size, 1);
  });

  test('takes any fetch, and gives it no way to be redirected', async (context) => {
    const { open } = await start(context);
    const seen: unknown[] = [];
    const client = open('t', (url, init) => {
      seen.push(init.redirect, new URL(url).pathname);
      return fetch(url, init);
    });
    assert.equal((await client.call('t', {})).ok, true);
    assert.deepEqual(seen, ['error', '/v1/call']);
    const redirected = await start(context, {
      onHttp: (_request, response) => {
        response.writeHead(307, { location: '/elsewhere' }).end();
        return true;
      },
    });
    assert.equal((await rejection(redirected.open().call('t', {}))).details['reason'], 'no_answer');
  });

  test('a listener is told why its events are refused', async (context) => {
    const { loopback } = await start(context);
    const connection = httpConnection({ url: loopback.url });
    const client = createToolClient(connection, { sessionId: 'nobody' });
    const error = await rejection(client.events().next());
    assert.deepEqual(
      [error.code, error.details['reason'], error.details['status']],
      ['E_POLICY', 'unknown_session', 404],
    );
    await client.close();
  });
});
