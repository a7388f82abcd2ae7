/** Calls and their answers: how many, in which order, and how they are stopped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventMessage, ServerMessage } from '@tool-runtime/protocol';
import { eventually } from '../../wire/within.ts';
import { cancelRequest, heartbeat, readRequest, toolRequest, waitRequest } from '../envelopes.ts';
import { isTerminal, outcomeOf } from '../inbox.ts';
import type { Client, Transport } from '../transport.ts';

export function callTests(transport: () => Transport): void {
  test('begins with the session it opened [S0-2]', async () => {
    const { traits, connect } = transport();
    const { inbox, sessionId } = await connect();
    const [first] = inbox.messages;
    if (traits.greeting === 'request') assert.ok(first === undefined || first.type === 'SessionAck');
    else assert.ok(first?.type === 'SessionAck' && first.accepted);
    assert.match(sessionId, /^sess-/);
  });

  test('answers many requests in flight, each exactly once [S0-10]', async () => {
    const { traits, connect } = transport();
    const client = await connect();
    const ids = Array.from({ length: traits.many }, (_, index) => `many-${index}`);
    for (const id of ids) client.send(readRequest(client, id));
    for (const id of ids) assert.equal(outcomeOf(await client.inbox.terminal(id)), 'ok');
    await settled(client);
    assert.deepEqual(
      ids.map((id) => client.inbox.terminals(id).length),
      ids.map(() => 1),
    );
  });

  test('sends the events of a request before its answer, and none after it [S0-10]', async () => {
    const { traits, connect, stage } = transport();
    const client = await connect();
    if (traits.streams === 'two') await client.attach();
    const [first, second] = [stage.name(), stage.name()];
    client.send(waitRequest(client, 'first', first));
    await client.inbox.until(isProgressOf('first'));
    stage.release(first);
    const answer = await client.inbox.terminal('first');
    assert.equal(outcomeOf(answer), 'ok');
    client.send(waitRequest(client, 'second', second));
    await client.inbox.until(isProgressOf('second'));
    stage.release(second);
    await client.inbox.terminal('second');
    // The second call began when the first was answered; its last event is printed at its very end.
    await client.inbox.until((message) => isProgressOf('second')(message) && chunkOf(message).includes('done'));
    const order = client.inbox.messages.map((message) => ('request_id' in message ? message.request_id : null));
    const border = traits.streams === 'one' ? client.inbox.messages.indexOf(answer) : order.indexOf('second');
    const late = client.inbox.messages.slice(border).filter(isProgressOf('first'));
    assert.deepEqual(late, []);
    assert.equal(printed(client, 'first'), printedIn(answer));
  });

  test('cancels the request a CancelRequest names, and no other', async () => {
    const { traits, connect, stage } = transport();
    const client = await connect();
    if (traits.streams === 'two') await client.attach();
    const [kept, stopped] = [stage.name(), stage.name()];
    client.send(waitRequest(client, 'kept', kept));
    client.send(waitRequest(client, 'stopped', stopped));
    await client.inbox.until(isProgressOf('kept'));
    await client.inbox.until(isProgressOf('stopped'));
    client.send(cancelRequest(client, 'never sent'));
    client.send(cancelRequest(client, 'stopped'));
    const answer = await client.inbox.terminal('stopped');
    assert.ok(answer.type === 'ToolResponse' && !answer.ok);
    assert.equal(answer.errors[0]?.details?.['reason'], 'cancelled');
    assert.deepEqual(client.inbox.terminals('kept'), []);
    stage.release(kept);
    assert.equal(outcomeOf(await client.inbox.terminal('kept')), 'ok');
    await settled(client);
    assert.deepEqual([client.inbox.terminals('stopped').length, client.inbox.terminals('never sent').length], [1, 0]);
    assert.deepEqual([stage.runs(kept), stage.runs(stopped)], [1, 0]);
  });

  test('answers a heartbeat with one of its own [S0-7]', async () => {
    const { connect } = transport();
    const client = await connect();
    client.send(heartbeat(client));
    const beat = await client.inbox.until((message) => message.type === 'Heartbeat');
    assert.ok(beat.type === 'Heartbeat' && beat.session_id === client.sessionId);
  });

  test('shows that it lives without being asked [S0-7]', async () => {
    const { traits, connect } = transport();
    const client = await connect();
    if (traits.beats === 'heartbeats') await client.inbox.until((message) => message.type === 'Heartbeat');
    if (traits.beats === 'comments') {
      await client.attach();
      await eventually(() => client.inbox.signs > 1, 'comments in the stream of events');
    }
    // Where it does not, an answer shows it.
    client.send(readRequest(client, 'alive'));
    assert.equal(outcomeOf(await client.inbox.terminal('alive')), 'ok');
  });

  test('answers an unknown tool and unknown arguments as calls that failed [S0-8 S1-45]', async () => {
    const { connect } = transport();
    const client = await connect();
    client.send(toolRequest(client, 'tool', 'no_such_tool', {}));
    client.send(toolRequest(client, 'args', 'file_read', { path: 'hello.txt', surprise: 1 }));
    assert.equal(outcomeOf(await client.inbox.terminal('tool')), 'E_POLICY');
    assert.equal(outcomeOf(await client.inbox.terminal('args')), 'E_VALIDATION_FAIL');
  });
}

export function isProgressOf(requestId: string): (message: ServerMessage) => message is EventMessage {
  return (message): message is EventMessage =>
    message.type === 'EventMessage' && message.event === 'TaskProgress' && message.request_id === requestId;
}

/** What the command printed, put together from the events that told of it. */
export function printed({ inbox }: Client, requestId: string): string {
  return inbox.messages.filter(isProgressOf(requestId)).map(chunkOf).join('');
}

export function printedIn(answer: ServerMessage): string {
  assert.ok(answer.type === 'ToolResponse' && answer.ok);
  return String((answer.data as { stdout: string }).stdout);
}

function chunkOf(message: ServerMessage): string {
  return message.type === 'EventMessage' ? String(message.data?.['chunk'] ?? '') : '';
}

/** One more round trip: whatever the host had still to say before it has been said. */
export async function settled(client: Client): Promise<void> {
  const id = `settled-${client.inbox.messages.length}`;
  client.send(readRequest(client, id));
  await client.inbox.terminal(id);
  assert.equal(client.inbox.messages.filter(isTerminal).filter((message) => message.request_id === id).length, 1);
}
