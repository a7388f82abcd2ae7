import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import type { JsonObject, SessionOpened } from '@tool-runtime/protocol';
import { nothing, wait } from '@tool-runtime/sdk/testing';
import { EVENT_KINDS } from '../src/describe/messages.ts';
import { missedText } from '../src/dispatch/resume.ts';
import { type Judge, judgeBy } from './document-checks.ts';
import { openHost, type TestHost, TOKENS } from './open-host.ts';
import { eventually } from './wire/within.ts';

const REGISTRY = 'approvals: { require_approval: [fs_delete] }\n';

interface Talk {
  readonly heard: JsonObject[];
  say(message: JsonObject): void;
  close(): void;
}

async function openTestHost(): Promise<{ host: TestHost; judge: Judge }> {
  const host = await openHost({
    registryText: REGISTRY,
    runtime: { tools: [nothing, wait] },
    limits: { keptEvents: 4, heartbeatMs: 50 },
  });
  const document = (await (await host.request('/asyncapi.json', { token: '' })).json()) as JsonObject;
  return { host, judge: judgeBy(document) };
}

/** An event is judged by its name, anything else by its type. */
function problemsOf(judge: Judge, message: JsonObject): readonly string[] {
  const name = message['type'] === 'EventMessage' ? message['event'] : message['type'];
  return judge(`#/components/messages/${name}/payload`, message);
}

async function overWebSocket({ url }: TestHost): Promise<Talk> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, ['tool-runtime.v1', `bearer.${TOKENS.operator}`]);
  const heard: JsonObject[] = [];
  socket.addEventListener('message', ({ data }) => heard.push(JSON.parse(String(data)) as JsonObject));
  await once(socket, 'open');
  return { heard, say: (message) => socket.send(JSON.stringify(message)), close: () => socket.close() };
}

async function overUnixSocket({ socket: path }: TestHost): Promise<Talk> {
  const socket = connect(path);
  const heard: JsonObject[] = [];
  createInterface({ input: socket }).on('line', (line) => heard.push(JSON.parse(line) as JsonObject));
  await once(socket, 'connect');
  return { heard, say: (message) => socket.write(`${JSON.stringify(message)}\n`), close: () => socket.end() };
}

/** Says everything a client can say, until everything a host can say was heard. */
async function sayEverything(host: TestHost, { heard, say }: Talk): Promise<void> {
  const find = (test: (message: JsonObject) => unknown, what: string) =>
    eventually(() => heard.find((message) => Boolean(test(message))), what);
  const answerTo = (id: string) =>
    find((message) => message['type'] !== 'EventMessage' && message['request_id'] === id, id);
  const { session_id } = (await find((message) => message['type'] === 'SessionAck', 'a greeting')) as {
    session_id: string;
  };
  const envelope = (type: string, fields: JsonObject): JsonObject => ({ type, session_id, timestamp: 1, ...fields });
  const call = (request_id: string, tool: string, args: JsonObject = {}) =>
    say(envelope('ToolRequest', { request_id, tool, args }));

  say({ type: 'SessionAttach', session_id, events: 'all' });
  call('progress', 'probe_wait', { ms: 1 });
  call('violation', 'file_read', { path: '../outside.txt' });
  call('metrics', 'emit_metrics');
  for (const id of ['progress', 'violation', 'metrics']) await answerTo(id);

  call('approval', 'fs_delete', { path: 'hello.txt' });
  const asked = await find((message) => message['event'] === 'ApprovalRequested', 'a question');
  const approval_id = (asked['data'] as JsonObject)['approval_id'] as string;
  say({ type: 'ApprovalAnswer', approval_id, answer: 'denied', reason: 'no' });
  await answerTo('approval');

  const items = [{ request_id: 'item', tool: 'probe_wait', args: { ms: 1 } }];
  say(envelope('BatchRequest', { request_id: 'batch', strategy: { type: 'sequential' }, calls: items }));
  await answerTo('batch');

  call('cancelled', 'probe_wait', { ms: 60_000 });
  say(envelope('CancelRequest', { request_id: 'cancelled' }));
  await answerTo('cancelled');

  say({ type: 'ChildOpen', request_id: 'open', session_id, agent_id: 'helper' });
  const { session_id: child } = (await answerTo('open')) as { session_id: string };
  say({
    ...envelope('ToolRequest', { request_id: 'in-child', tool: 'probe_wait', args: { ms: 1 } }),
    session_id: child,
  });
  await answerTo('in-child');
  say({ type: 'ChildEnd', request_id: 'end', session_id: child });
  await answerTo('end');

  say(envelope('Heartbeat', {}));
  say({ type: 'SessionAttach', session_id, events: 'all', after: 0 });
  say(envelope('ToolRequest', { request_id: 'refused', tool: 'probe_nothing', args: {}, session_id: 'none' }));
  await answerTo('refused');
  await find((message) => message['event'] === 'EventsMissed', 'the marker of events that are gone');
  await find((message) => message['type'] === 'Heartbeat', 'a sign of life');

  await host.request(`/v1/sessions/${session_id}`, { method: 'DELETE' });
  await find((message) => message['event'] === 'SessionEnded', 'the end of the session');
}

describe('real traffic matches the AsyncAPI document', () => {
  for (const [name, open] of Object.entries({ WebSocket: overWebSocket, 'JSON lines': overUnixSocket })) {
    test(`${name}: every message of the host fits, and every event of the document happens`, async () => {
      const { host, judge } = await openTestHost();
      await using _host = host;
      const talk = await open(host);
      await sayEverything(host, talk);
      talk.close();
      for (const message of talk.heard) assert.deepEqual(problemsOf(judge, message), [], JSON.stringify(message));
      const events = talk.heard.flatMap((message) => message['event'] ?? []);
      assert.deepEqual([...new Set(events)].sort(), Object.keys(EVENT_KINDS).sort());
      const types = talk.heard.map((message) => message['type']);
      assert.deepEqual([...new Set(types)].sort(), [
        'BatchResponse',
        'ChildAck',
        'ChildEnded',
        'ErrorMessage',
        'EventMessage',
        'Heartbeat',
        'SessionAck',
        'ToolResponse',
      ]);
    });
  }

  test('server-sent events carry events as described, under their ids', async () => {
    const { host, judge } = await openTestHost();
    await using _host = host;
    const { session_id } = (await (await host.request('/v1/sessions', { body: {} })).json()) as SessionOpened;
    const stream = await host.request(`/v1/events?session_id=${session_id}&events=all`);
    const request = {
      type: 'ToolRequest',
      session_id,
      timestamp: 1,
      request_id: 'r1',
      tool: 'probe_wait',
      args: { ms: 1 },
    };
    await host.request('/v1/call', { body: request });
    await host.request(`/v1/sessions/${session_id}`, { method: 'DELETE' });
    const blocks = (await stream.text()).split('\n\n').filter((block) => block.startsWith('id: '));
    const events = blocks.map((block) => {
      const [, id, data] = /^id: (\d+)\ndata: (.+)$/.exec(block) ?? [];
      const message = JSON.parse(data ?? '') as JsonObject;
      assert.equal(message['id'], Number(id));
      assert.deepEqual(problemsOf(judge, message), [], data);
      return message['event'];
    });
    assert.deepEqual([...new Set(events)].sort(), ['CallStatusChanged', 'SessionEnded', 'TaskProgress']);
  });

  test('the marker for a slow reader says how many events it missed', async () => {
    const { host, judge } = await openTestHost();
    await using _host = host;
    assert.deepEqual(problemsOf(judge, JSON.parse(missedText('s1', 4, 'slow', 3)) as JsonObject), []);
  });

  test('a message that the document does not allow is found', async () => {
    const { host, judge } = await openTestHost();
    await using _host = host;
    const event = { type: 'EventMessage', event: 'RuleViolation', request_id: 'r1', progress: { pct: 0, message: '' } };
    const data = { tool: 't', code: 'E_POLICY', message: 'no' };
    assert.deepEqual(problemsOf(judge, { ...event, data }), []);
    assert.notDeepEqual(problemsOf(judge, event), []);
    assert.notDeepEqual(problemsOf(judge, { ...event, data: { ...data, args: {} } }), []);
  });
});
