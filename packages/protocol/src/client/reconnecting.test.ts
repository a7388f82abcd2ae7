import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Loopback, type LoopbackOptions, startLoopback } from '../../test/loopback-host.ts';
import { createConnectionPair, type HostEnd } from '../../test/memory-connection.ts';
import { ModelHost, type ModelHostOptions, type ModelSession, refusal } from '../../test/model-host.ts';
import { rejection } from '../../test/rejection.ts';
import { SAMPLES } from '../../test/sample-messages.ts';
import type { ClientMessage } from '../envelopes/client-message.ts';
import type { EventMessage } from '../envelopes/from-host/event-message.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import type { ReconnectOptions } from './backoff.ts';
import { httpConnection } from './http-connection.ts';
import { reconnecting } from './reconnecting.ts';
import { createToolClient } from './tool-client.ts';
import type { ToolClientOptions } from './tool-client-interface.ts';
import { webSocketConnection } from './web-socket-connection.ts';

const QUICK = { minDelayMs: 1, maxDelayMs: 5 };

interface StartOptions extends Partial<LoopbackOptions> {
  readonly model?: ModelHostOptions;
  readonly reconnect?: ReconnectOptions;
  readonly client?: ToolClientOptions;
}

type Transport = 'ws' | 'http';

async function start(context: TestContext, transport: Transport, options: StartOptions = {}) {
  const { model = {}, reconnect = {}, client: clientOptions = {}, ...hooks } = options;
  const host = new ModelHost(model);
  const session = host.openSession();
  const loopback = await startLoopback(host, { session: () => session, ...hooks });
  const sessionId = session.id;
  const connect = () =>
    transport === 'ws'
      ? webSocketConnection({ url: loopback.url })
      : httpConnection({ url: loopback.url, session: { session_id: sessionId, server_version: '1' } });
  const connection = reconnecting(connect, { ...QUICK, sessionId, ...reconnect });
  const client = createToolClient(connection, { sessionId, ...clientOptions });
  context.after(async () => {
    await client.close();
    await loopback.close();
  });
  return { host, session, loopback, client };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

const hasJoined = (host: ModelHost) => host.received.some(({ type }) => type === 'SessionAttach');

/** Cuts every connection once per effect, while its call runs. */
function cuttingWork(cut: () => Loopback | undefined): NonNullable<ModelHostOptions['work']> {
  const done = new Set<unknown>();
  return async ({ request_id }) => {
    if (!done.has(request_id)) cut()?.cutAll();
    done.add(request_id);
    await new Promise((resolve) => setTimeout(resolve, 10));
  };
}

for (const transport of ['ws', 'http'] as const) {
  describe(`a connection that comes back, over ${transport}`, () => {
    test('calls survive 20 drops in the middle, and no effect runs twice [S0-10]', async (context) => {
      let loopback: Loopback | undefined;
      const started = await start(context, transport, { model: { work: cuttingWork(() => loopback) } });
      loopback = started.loopback;
      for (let round = 0; round < 20; round += 1) {
        const response = await started.client.call('t', { effect: `${round}` });
        assert.deepEqual([response.ok, started.host.countOf(`${round}`)], [true, 1]);
      }
    });

    test('sends a request again that never came, with the same id', async (context) => {
      let lost = 0;
      const { client, host } = await start(context, transport, {
        onFrame(text, socket) {
          if (!text.includes('ToolRequest') || lost++ > 0) return true;
          socket.terminate();
          return false;
        },
        onHttp(request) {
          if (request.url !== '/v1/call' || lost++ > 0) return false;
          request.socket.destroy();
          return true;
        },
      });
      assert.equal((await client.call('t', { effect: 'a' })).ok, true);
      assert.deepEqual([host.countOf('a'), lost], [1, 2]);
    });

    test('repeats a call whose answer is gone only when it has a key', async (context) => {
      let loopback: Loopback | undefined;
      const started = await start(context, transport, {
        model: { keptAnswers: 0, work: async () => loopback?.cutAll() },
        reconnect: { minDelayMs: 50, maxDelayMs: 50 },
      });
      loopback = started.loopback;
      const { client, host } = started;
      const { code, details } = await rejection(client.call('t', { effect: 'plain' }));
      assert.deepEqual([code, details['reason'], details['because']], ['E_INTERNAL', 'outcome_unknown', 'answer_gone']);
      const keyed = await client.call('t', { effect: 'keyed' }, { idempotencyKey: 'k' });
      assert.deepEqual([keyed.ok, host.countOf('plain'), host.countOf('keyed')], [true, 1, 1]);
    });

    test('brings the events that happened meanwhile, each once', async (context) => {
      const reconnect = { minDelayMs: 60, maxDelayMs: 60 };
      const { client, host, session, loopback } = await start(context, transport, { reconnect });
      const events = client.events();
      const seen: string[] = [];
      const reading = (async () => {
        for await (const { progress } of events) if (seen.push(progress.message) === 9) break;
      })();
      await until(() => hasJoined(host));
      for (const round of [0, 1, 2]) {
        await until(() => session.listeners.size > 0);
        host.announce(session, `live ${round}`, 'r');
        await until(() => seen.includes(`live ${round}`));
        loopback.cutAll();
        await until(() => session.listeners.size === 0);
        host.announce(session, `missed ${round}`, 'r');
        host.announce(session, `missed ${round} too`, 'r');
      }
      await reading;
      assert.deepEqual(
        seen,
        [0, 1, 2].flatMap((round) => [`live ${round}`, `missed ${round}`, `missed ${round} too`]),
      );
    });

    test('a session that is gone rejects calls that were sent as unknown, later ones as refused', async (context) => {
      const { client, host, session, loopback } = await start(context, transport, {
        model: { work: () => new Promise(() => undefined) },
      });
      const call = client.call('t', {});
      await until(() => session.running.size === 1);
      host.sessions.delete(session.id);
      loopback.cutAll();
      const { code, details } = await rejection(call);
      assert.deepEqual(
        [code, details['reason'], details['because']],
        ['E_INTERNAL', 'outcome_unknown', 'unknown_session'],
      );
      const late = await rejection(client.call('t', {}));
      assert.deepEqual([late.code, late.details['reason']], ['E_POLICY', 'unknown_session']);
    });
  });
}

describe('a connection that comes back', () => {
  test('uses another session when one is opened; calls that were never sent go there', async (context) => {
    const sessions: ModelSession[] = [];
    const host = new ModelHost();
    const next = () => sessions[sessions.push(host.openSession()) - 1] as ModelSession;
    const first = next();
    const loopback = await startLoopback(host, { session: () => sessions.at(-1) as ModelSession });
    let url = loopback.url;
    const lost: unknown[] = [];
    const connection = reconnecting(() => webSocketConnection({ url }), {
      ...QUICK,
      attempts: 1000,
      onSessionLost: (error) => {
        lost.push(error.details['reason']);
        return { session_id: next().id };
      },
    });
    const client = createToolClient(connection);
    context.after(async () => {
      await client.close();
      await loopback.close();
    });
    assert.equal((await client.ready()).session_id, first.id);
    const events = client.events();
    const names: string[] = [];
    const reading = (async () => {
      for await (const { event } of events) if (names.push(event) === 2) break;
    })();
    await until(() => hasJoined(host));
    await client.call('t', {});
    await until(() => names.length === 1);
    host.sessions.delete(first.id);
    url = 'http://127.0.0.1:1';
    loopback.cutAll();
    await new Promise((resolve) => setTimeout(resolve, 10));
    const held = client.call('t', { effect: 'held' });
    url = loopback.url;
    assert.equal((await held).ok, true);
    assert.deepEqual(lost, ['unknown_session']);
    assert.equal(host.countOf('held'), 1);
    assert.equal(sessions[1]?.seen.size, 1);
    await reading;
    assert.deepEqual(names, ['TaskProgress', 'TaskProgress']);
    assert.equal((await client.call('t', {})).ok, true);
  });

  test('gives up after so many attempts: what never went out is rejected as not sent', async () => {
    const drops: string[] = [];
    const connection = reconnecting(() => webSocketConnection({ url: 'http://127.0.0.1:1' }), {
      ...QUICK,
      attempts: 3,
      onDrop: ({ message }) => drops.push(message),
    });
    const client = createToolClient(connection, { sessionId: 's' });
    assert.equal((await rejection(client.call('t', {}))).details['reason'], 'connection_closed');
    assert.equal(drops.length, 3);
  });

  test('a refusal that will not change is not tried again', async () => {
    let connects = 0;
    const connection = reconnecting(() => {
      connects += 1;
      const { connection: inner, host } = createConnectionPair();
      host.send({ ...refusal(null, 'E_POLICY', 'token_invalid'), details: { reason: 'token_invalid' } });
      return inner;
    }, QUICK);
    const { code, details } = await rejection(createToolClient(connection).ready());
    assert.deepEqual([code, details['reason'], connects], ['E_POLICY', 'token_invalid', 1]);
  });

  test('a host that does not greet in time counts as a failed attempt', async () => {
    let connects = 0;
    const connection = reconnecting(
      () => {
        connects += 1;
        const { connection: inner, host } = createConnectionPair();
        if (connects === 3) host.send(SAMPLES.SessionAck);
        return inner;
      },
      { ...QUICK, openTimeoutMs: 20 },
    );
    const client = createToolClient(connection);
    assert.deepEqual(await client.ready(), SAMPLES.SessionAck);
    await client.close();
  });

  test('a host that cannot join sessions counts as one that cannot be reached', async () => {
    const hosts: HostEnd[] = [];
    const connection = reconnecting(
      () => {
        const { connection: inner, host } = createConnectionPair();
        host.send(SAMPLES.SessionAck);
        void host.next().then(() => host.send(refusal(null, 'E_VALIDATION_FAIL', 'invalid_fields')));
        hosts.push(host);
        return inner;
      },
      { ...QUICK, sessionId: 'ours', attempts: 3 },
    );
    const client = createToolClient(connection, { sessionId: 'ours' });
    const { code, details } = await rejection(client.call('t', {}));
    assert.deepEqual([code, details['reason'], hosts.length], ['E_VALIDATION_FAIL', 'invalid_fields', 3]);
    assert.ok(hosts.every(({ received }) => received.every(({ type }) => type === 'SessionAttach')));
  });

  test('a connection that is open and dead is noticed by an unanswered heartbeat', async () => {
    const hosts: HostEnd[] = [];
    const connection = reconnecting(
      () => {
        const { connection: inner, host } = createConnectionPair();
        host.send(SAMPLES.SessionAck);
        hosts.push(host);
        return inner;
      },
      { ...QUICK, silenceMs: 20 },
    );
    const client = createToolClient(connection, { heartbeatMs: 5 });
    const call = client.call('t', {}, { idempotencyKey: 'k' });
    await until(() => hosts.length >= 2);
    assert.equal(hosts[0]?.isClosed, true);
    const attach = await hosts[1]?.next();
    assert.ok(attach?.type === 'SessionAttach' && attach.pending?.length === 1);
    const [request_id = ''] = attach.pending;
    hosts[1]?.send(SAMPLES.SessionAck);
    hosts[1]?.send({ ...SAMPLES.ToolResponse, request_id });
    assert.equal((await call).ok, true);
    await client.close();
  });

  test('says goodbye when it is closed, and not when it comes back', async (context) => {
    const codes: number[] = [];
    const host = new ModelHost();
    const session = host.openSession();
    let isSilent = true;
    const loopback = await startLoopback(host, {
      session: () => session,
      onConnect: (socket) => socket.on('close', (code) => codes.push(code)),
      onFrame: () => !isSilent,
    });
    context.after(() => loopback.close());
    const connection = reconnecting(() => webSocketConnection({ url: loopback.url }), { ...QUICK, silenceMs: 20 });
    const client = createToolClient(connection, { heartbeatMs: 5 });
    await until(() => codes.length === 1);
    isSilent = false;
    assert.equal((await client.call('t', {})).ok, true);
    const before = codes.length;
    await client.close();
    await until(() => codes.length > before);
    assert.deepEqual([codes[0], codes.at(-1)], [4000, 1000]);
  });

  test('a cancel that was lost with its connection is sent again', async (context) => {
    const gate = Promise.withResolvers<void>();
    let isLosing = true;
    const { client, host, session, loopback } = await start(context, 'ws', {
      model: { work: () => gate.promise },
      onFrame: (text) => !(isLosing && text.includes('CancelRequest')),
    });
    const controller = new AbortController();
    const call = client.call('t', {}, { signal: controller.signal });
    await until(() => session.running.size === 1);
    controller.abort();
    await new Promise((resolve) => setTimeout(resolve, 20));
    isLosing = false;
    loopback.cutAll();
    await until(() => host.received.some(({ type }) => type === 'CancelRequest'));
    gate.resolve();
    assert.equal((await rejection(call)).details['reason'], 'cancelled');
  });

  test('a call that is cancelled while there is no connection never goes out', async () => {
    const connection = reconnecting(() => new Promise(() => undefined), QUICK);
    const client = createToolClient(connection, { sessionId: 's' });
    const controller = new AbortController();
    const call = client.call('t', {}, { signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    assert.equal((await rejection(call)).details['reason'], 'cancelled');
    await client.close();
  });

  test('joins the session it was given when it is greeted with another', async (context) => {
    const host = new ModelHost();
    const ours = host.openSession();
    const loopback = await startLoopback(host, { session: () => host.openSession() });
    const connection = reconnecting(() => webSocketConnection({ url: loopback.url }), { ...QUICK, sessionId: ours.id });
    const client = createToolClient(connection, { sessionId: ours.id });
    context.after(async () => {
      await client.close();
      await loopback.close();
    });
    assert.equal((await client.ready()).session_id, ours.id);
    assert.equal((await client.call('t', {})).ok, true);
    loopback.cutAll();
    assert.equal((await client.call('t', {})).ok, true);
    assert.equal(ours.seen.size, 2);
  });

  test('names more than 1024 pending requests in several messages', async (context) => {
    const gate = Promise.withResolvers<void>();
    const { client, host, session, loopback } = await start(context, 'ws', { model: { work: () => gate.promise } });
    const calls = Array.from({ length: 2500 }, () => client.call('t', {}));
    await until(() => session.running.size === 2500);
    loopback.cutAll();
    const attaches = () => host.received.flatMap((message) => (message.type === 'SessionAttach' ? [message] : []));
    await until(() => attaches().length === 3);
    gate.resolve();
    assert.ok((await Promise.all(calls)).every(({ ok }) => ok));
    assert.deepEqual(
      attaches().map(({ pending, after }) => [pending?.length, after !== undefined]),
      [
        [1024, true],
        [1024, false],
        [452, false],
      ],
    );
  });

  test('a listener that wants older events gets them, also when the connection drops just then', async (context) => {
    let isCutting = true;
    const { client, host, session } = await start(context, 'ws', {
      onFrame(text, socket) {
        if (!isCutting || !text.includes('"after":0')) return true;
        isCutting = false;
        // A live event passes just before the request for older ones is lost.
        host.announce(session, 'live', 'r');
        setTimeout(() => socket.terminate(), 10);
        return false;
      },
    });
    await client.call('t', {});
    for (const name of ['one', 'two']) host.announce(session, name, 'r');
    const seen: EventMessage[] = [];
    for await (const event of client.events({ after: 0 })) if (seen.push(event) === 4) break;
    assert.deepEqual(
      seen.map(({ event, id }) => [event, id]),
      [
        ['TaskProgress', 1],
        ['one', 2],
        ['two', 3],
        ['live', 4],
      ],
    );
  });
});

describe('children on a connection that comes back', () => {
  const { ChildOpen, ChildEnd } = SAMPLES;

  /** A connection whose host answers nothing by itself; everything that was sent, and what came. */
  function open() {
    const ends: HostEnd[] = [];
    const sent = (): readonly ClientMessage[] => ends.flatMap(({ received }) => received);
    const connection = reconnecting(
      () => {
        const { connection: wire, host } = createConnectionPair();
        ends.push(host);
        host.send(SAMPLES.SessionAck);
        return wire;
      },
      { ...QUICK },
    );
    const heard: ServerMessage[] = [];
    void (async () => {
      for await (const message of connection.messages()) heard.push(message);
    })();
    const last = (): HostEnd => ends.at(-1) as HostEnd;
    return { connection, sent, heard, last, ends };
  }

  test('each question has its one answer, a refusal like a yes', async () => {
    const { connection, sent, heard, last } = open();
    await until(() => heard.length === 1);
    await connection.send(ChildOpen);
    await connection.send({ ...ChildEnd, request_id: 'request-2' });
    await until(() => sent().length === 2);
    last().send(SAMPLES.ChildAck);
    last().send(refusal('request-2', 'E_POLICY', 'children_open'));
    last().send(SAMPLES.ChildAck);
    last().send(SAMPLES.Heartbeat);
    await until(() => heard.some(({ type }) => type === 'Heartbeat'));
    assert.deepEqual(
      heard.map(({ type }) => type),
      ['SessionAck', 'ChildAck', 'ErrorMessage', 'Heartbeat'],
    );
    await connection.close();
  });

  test('what has no answer when the wire breaks is unknown, and never asked again', async () => {
    const { connection, sent, heard, last, ends } = open();
    await until(() => heard.length === 1);
    await connection.send(ChildOpen);
    await until(() => sent().length === 1);
    last().send(SAMPLES.ChildAck);
    await until(() => heard.length === 2);
    const call = { ...SAMPLES.ToolRequest, request_id: 'of-child', session_id: SAMPLES.ChildAck.session_id };
    await connection.send(call);
    await connection.send({ ...ChildOpen, request_id: 'lost' });
    await until(() => sent().length === 3);
    last().drop();
    await until(() => ends.length === 2 && heard.filter(({ type }) => type === 'ErrorMessage').length === 2);
    const unknown = heard.flatMap((message) => (message.type === 'ErrorMessage' ? [message] : []));
    assert.deepEqual(unknown.map(({ request_id, details }) => `${request_id} ${details?.['reason']}`).sort(), [
      'lost outcome_unknown',
      'of-child outcome_unknown',
    ]);
    assert.deepEqual(
      sent()
        .slice(3)
        .filter(({ type }) => type !== 'SessionAttach'),
      [],
    );
    await connection.close();
  });

  test('a child that is gone does not end the connection of its parent', async () => {
    const { connection, sent, heard, last, ends } = open();
    await until(() => heard.length === 1);
    await connection.send(ChildOpen);
    last().send(SAMPLES.ChildAck);
    await until(() => heard.length === 2);
    await connection.send({ ...SAMPLES.ToolRequest, session_id: SAMPLES.ChildAck.session_id });
    await until(() => sent().length === 2);
    last().send(refusal(SAMPLES.ToolRequest.request_id, 'E_POLICY', 'unknown_session'));
    last().send(SAMPLES.Heartbeat);
    await until(() => heard.some(({ type }) => type === 'Heartbeat'));
    assert.equal(ends.length, 1);
    await connection.close();
  });
});
