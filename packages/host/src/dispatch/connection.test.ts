import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ServerMessage, serverMessageSchema } from '@tool-runtime/protocol';
import type { RuntimeOptions, SessionOptions } from '@tool-runtime/sdk';
import { nothing, openScratchRuntime, wait } from '@tool-runtime/sdk/testing';
import { serveSession } from '../sessions/served-session.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { reachOnly } from './reach-only.ts';

async function open(
  options: Partial<ConnectionOptions> = {},
  session: SessionOptions = {},
  runtime: Partial<RuntimeOptions> = {},
  limits: { readonly maxInFlight?: number } = {},
) {
  const scratch = await openScratchRuntime({ tools: [nothing, wait], ...runtime }, session);
  const sent: ServerMessage[] = [];
  let lastEventId = 0;
  const served = serveSession(scratch.session, {
    ...{ keptEvents: 10, nextEventId: () => ++lastEventId, now: () => 0 },
    ...limits,
  });
  const reach = { ...reachOnly(served), now: () => 1_700_000_000_999 };
  const connection = new Connection(reach, {
    maxBytes: 10_000,
    events: 'progress',
    serverVersion: '0.0.0',
    ...options,
    send: (text) => {
      const message = JSON.parse(text) as ServerMessage;
      assert.ok(serverMessageSchema.safeParse(message).success, JSON.stringify(message));
      sent.push(message);
    },
  });
  const envelope = (type: string, fields: object) =>
    JSON.stringify({ type, session_id: scratch.session.id, timestamp: 1, ...fields });
  return {
    ...scratch,
    connection,
    sent,
    call: (request_id: string, tool: string, args: object = {}, more: object = {}) =>
      connection.receive(envelope('ToolRequest', { request_id, tool, args, ...more })),
    batch: (request_id: string, strategy: object, calls: readonly object[]) =>
      connection.receive(envelope('BatchRequest', { request_id, strategy, calls })),
    heard: async (line: string) => {
      while (!sent.some((message) => outlineOf(message) === line))
        await new Promise((resolve) => setImmediate(resolve));
    },
    cancel: (request_id: string, more: object = {}) =>
      connection.receive(envelope('CancelRequest', { request_id, ...more })),
    childOpen: (request_id: string, more: object = {}) =>
      JSON.stringify({ type: 'ChildOpen', request_id, session_id: scratch.session.id, agent_id: 'helper', ...more }),
    beat: (more: object = {}) => connection.receive(envelope('Heartbeat', more)),
    outline: () => sent.map(outlineOf),
    [Symbol.asyncDispose]: scratch.dispose,
  };
}

function outlineOf(message: ServerMessage): string {
  switch (message.type) {
    case 'ToolResponse':
      return `${message.request_id} ${message.ok ? 'ok' : message.errors[0]?.code}`;
    case 'ErrorMessage':
      return `${message.request_id} refused ${message.code} ${message.details?.['path'] ?? message.details?.['reason']}`;
    case 'EventMessage':
      return `${message.request_id} ${message.event} ${message.progress.message}`;
    default:
      return message.type;
  }
}

describe('a connection', () => {
  for (const [type, released] of [
    ['bounded_concurrent', ['quick ok', 'slow E_INTERNAL']],
    ['ordered_batch', ['slow E_INTERNAL', 'quick ok']],
  ] as const) {
    test(`a batch releases its answers as ${type} says, and one of its calls can be cancelled [S1-32]`, async () => {
      await using host = await open({ events: 'all' });
      host.batch('b', { type, max_in_flight: 2 }, [
        { request_id: 'slow', tool: 'probe_wait', args: { ms: 60_000 } },
        { request_id: 'quick', tool: 'probe_nothing', args: {} },
      ]);
      await host.heard('slow TaskProgress waiting');
      await host.heard('quick CallStatusChanged completed');
      host.cancel('slow');
      await host.connection.drain();
      const answer = host.sent.find((message) => message.type === 'BatchResponse');
      assert.deepEqual(answer?.responses.map(outlineOf), released);
      assert.equal(host.sent.at(-1), answer);
    });
  }

  test('answers many requests that are in flight together, each exactly once [S0-10]', async () => {
    await using host = await open();
    for (let index = 0; index < 200; index++) host.call(`r${index}`, 'probe_nothing', { text: `${index}` });
    assert.equal(host.connection.inFlight, 200);
    await host.connection.drain();
    assert.equal(host.connection.inFlight, 0);
    assert.deepEqual(host.outline().toSorted(), Array.from({ length: 200 }, (_, index) => `r${index} ok`).toSorted());
  });

  test('sends the events of a request before its answer [S0-10]', async () => {
    await using host = await open();
    host.call('r1', 'probe_wait', { ms: 1 });
    await host.connection.drain();
    assert.deepEqual(host.outline(), ['r1 TaskProgress waiting', 'r1 TaskProgress waited', 'r1 ok']);
  });

  test('sends every change of status when all events are wanted [S0-5]', async () => {
    await using host = await open({ events: 'all' });
    host.call('r1', 'probe_nothing');
    await host.connection.drain();
    const events = host.sent.flatMap((message) => (message.type === 'EventMessage' ? [message.event] : []));
    assert.ok(events.length >= 2);
    assert.deepEqual([...new Set(events)], ['CallStatusChanged']);
    assert.equal(host.outline().at(-1), 'r1 ok');
  });

  test('drops what a tool still reports after its call was answered [S0-10] (deep)', async () => {
    await using host = await open();
    host.call('r1', 'probe_wait', { ms: 2_500, stubborn: true }, { timeout_ms: 10 });
    await host.connection.drain();
    // The tool ignores its deadline and reports once more after the answer.
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.deepEqual(host.outline(), ['r1 TaskProgress waiting', 'r1 E_TIMEOUT']);
  });

  test('cancels the request a CancelRequest names, and no other', async () => {
    await using host = await open();
    host.call('r1', 'probe_wait', { ms: 60_000 });
    host.call('r2', 'probe_wait', { ms: 1 });
    host.cancel('r1');
    host.cancel('unknown');
    await host.connection.drain();
    assert.deepEqual(
      host
        .outline()
        .filter((line) => !line.includes('TaskProgress'))
        .toSorted(),
      ['r1 E_INTERNAL', 'r2 ok'],
    );
  });

  test('cancels everything when told to', async () => {
    await using host = await open();
    for (const id of ['r1', 'r2', 'r3']) host.call(id, 'probe_wait', { ms: 60_000 });
    host.connection.cancelAll();
    await host.connection.drain();
    assert.equal(host.outline().filter((line) => line.endsWith(' E_INTERNAL')).length, 3);
  });

  test('answers a heartbeat with one of its own [S0-7]', async () => {
    await using host = await open();
    host.beat();
    assert.deepEqual(host.sent, [{ type: 'Heartbeat', session_id: host.session.id, timestamp: 1_700_000_000 }]);
  });

  test('answers the heartbeat of an ended session with its end [S0-7]', async () => {
    await using host = await open();
    await host.session.close();
    host.beat();
    assert.deepEqual(host.outline(), ['null refused E_POLICY session_closed']);
  });

  test('names the field of whatever it refuses [S0-6]', async () => {
    await using host = await open();
    host.beat({ session_id: 'other' });
    host.cancel('r1', { session_id: 'other' });
    host.call('r2', 'probe_nothing', {}, { session_id: 'other' });
    host.call('r3', 'probe_nothing', {}, { extra: 1 });
    host.call('r4', 'probe_nothing', {}, { timestamp: 'now' });
    host.connection.receive('{');
    host.connection.receive('{"type":"Heartbeat","type":"Heartbeat"}');
    host.connection.receive(`"${'x'.repeat(20_000)}"`);
    await host.connection.drain();
    assert.deepEqual(host.outline().toSorted(), [
      'null refused E_POLICY session_id',
      'null refused E_POLICY session_id',
      'null refused E_VALIDATION_FAIL syntax',
      'null refused E_VALIDATION_FAIL too_large',
      'null refused E_VALIDATION_FAIL type',
      'r2 refused E_POLICY session_id',
      'r3 refused E_VALIDATION_FAIL extra',
      'r4 refused E_VALIDATION_FAIL timestamp',
    ]);
  });

  test('answers an unknown tool as a call that is not allowed [S0-8 S1-45]', async () => {
    await using host = await open();
    host.call('r1', 'no_such_tool');
    await host.connection.drain();
    assert.deepEqual(host.outline(), ['r1 E_POLICY']);
  });

  test('does not answer for a running request when a message about it is refused [S0-10]', async () => {
    await using host = await open();
    host.call('r1', 'probe_wait', { ms: 60_000 });
    host.cancel('r1', { extra: 1 });
    host.cancel('r1');
    await host.connection.drain();
    assert.deepEqual(
      host.outline().filter((line) => !line.includes('TaskProgress')),
      ['null refused E_VALIDATION_FAIL extra', 'r1 E_INTERNAL'],
    );
  });

  test('a request that reuses an id is refused and leaves the first one cancellable [S0-10]', async () => {
    await using host = await open();
    host.call('r1', 'probe_wait', { ms: 60_000 });
    host.call('r1', 'probe_nothing');
    await new Promise((resolve) => setImmediate(resolve));
    host.cancel('r1');
    await host.connection.drain();
    assert.deepEqual(
      host.outline().filter((line) => !line.includes('TaskProgress')),
      ['r1 refused E_VALIDATION_FAIL request_id_reused', 'r1 E_INTERNAL'],
    );
  });

  test('asks to wait while unanswered requests weigh too much, and not before or after', async () => {
    await using host = await open({ maxHeldBytes: 20_000 });
    assert.equal(host.connection.place(), undefined);
    for (const id of ['r1', 'r2', 'r3']) host.call(id, 'probe_wait', { ms: 5 });
    const place = host.connection.place();
    assert.ok(place instanceof Promise);
    await place;
    assert.ok(host.connection.inFlight < 3);
    await host.connection.drain();
    assert.equal(host.connection.place(), undefined);
  });

  test('forwards no events once it is closed, and lets a call that has begun go on', async () => {
    await using host = await open();
    host.call('r1', 'probe_wait', { ms: 20 });
    while (host.sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    host.connection.close();
    await host.connection.drain();
    assert.deepEqual(host.outline(), ['r1 TaskProgress waiting', 'r1 ok']);
  });

  test('a call that has not begun when it is closed does not run, and may be sent again', async () => {
    await using host = await open({}, {}, {}, { maxInFlight: 1 });
    host.call('r1', 'probe_wait', { ms: 1 });
    host.call('r2', 'probe_wait', { ms: 1 });
    host.connection.close();
    host.call('r3', 'probe_wait', { ms: 1 });
    await host.connection.drain();
    const refused = host.outline().filter((line) => line.includes('refused'));
    assert.deepEqual(refused.sort(), ['r2 refused E_INTERNAL never_received', 'r3 refused E_INTERNAL never_received']);
    assert.equal([...host.runtime.records({ kind: 'intent' })].length, 1);
    assert.deepEqual([host.session.hasSeen('r2'), host.session.hasSeen('r3')], [false, false]);
  });
});

describe('children on a connection', () => {
  test('one that has ended gets no more signs of life, and leaves nothing behind [S3-49]', async () => {
    await using host = await open();
    host.connection.receive(host.childOpen('r1'));
    await host.connection.drain();
    const [ack] = host.sent;
    assert.ok(ack?.type === 'ChildAck');
    const beats = (): number => {
      const before = host.sent.length;
      host.connection.beat();
      return host.sent.length - before;
    };
    assert.equal(beats(), 1);
    host.connection.receive(JSON.stringify({ type: 'ChildEnd', request_id: 'r2', session_id: ack.session_id }));
    await host.connection.drain();
    assert.equal(host.outline().at(-1), 'ChildEnded');
    assert.equal(beats(), 0);
    assert.deepEqual(host.session.children(), []);
  });

  test('every message keeps it alive; silence ends it, and its parent goes on [S0-7]', async () => {
    let now = 0;
    const clock = { now: () => 1000 + now, monotonic: () => now };
    await using host = await open({}, {}, { ports: { clock } });
    host.connection.receive(host.childOpen('open', { heartbeat_timeout_ms: 1000 }));
    await host.connection.drain();
    const [ack] = host.sent;
    assert.ok(ack?.type === 'ChildAck' && ack.heartbeat_timeout_ms === 1000);
    const inChild = async (requestId: string): Promise<string | undefined> => {
      host.call(requestId, 'probe_nothing', {}, { session_id: ack.session_id });
      await host.connection.drain();
      return host.outline().at(-1);
    };
    for (const at of [900, 1800, 2700]) {
      now = at;
      assert.equal(await inChild(`r${at}`), `r${at} ok`);
    }
    now = 4000;
    assert.equal(await inChild('late'), 'late refused E_POLICY session_expired');
    host.call('parent', 'probe_nothing');
    await host.connection.drain();
    assert.equal(host.outline().at(-1), 'parent ok');
    await host.session.close();
  });
});
