/** The life of a session: questions answered, connections lost and found, an end in order, an end by silence. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventMessage, ServerMessage } from '@tool-runtime/protocol';
import { eventually } from '../../wire/within.ts';
import { heartbeat, readRequest, toolRequest, waitRequest } from '../envelopes.ts';
import { outcomeOf } from '../inbox.ts';
import type { Client, Transport } from '../transport.ts';
import { isProgressOf, printed, printedIn, settled } from './call-tests.ts';

/** The longest limit that is tried before a silent session. */
const MAX_PATIENCE_MS = 16_000;

export function lifeTests(transport: () => Transport): void {
  test('takes the answer to a question, once', async () => {
    const { traits, connect, stage } = transport();
    const client = await connect();
    const file = `${stage.name()}.txt`;
    stage.write(file, 'to be deleted');
    await client.attach();
    client.send(toolRequest(client, 'delete', 'fs_delete', { path: file }));
    if (traits.approvals === 'refused') {
      // No approver exists, so nothing is done; and an answer has no question.
      assert.equal(outcomeOf(await client.inbox.terminal('delete')), 'E_POLICY');
      client.send({ type: 'ApprovalAnswer', approval_id: 'approval.none', answer: 'approved' });
      assert.equal(outcomeOf(await client.inbox.refusal()), 'refused unknown_approval');
      return assert.ok(stage.has(file));
    }
    const asked = await client.inbox.until(isEvent('ApprovalRequested'));
    const approval_id = String(asked.data?.['approval_id']);
    assert.ok(stage.has(file));
    client.send({ type: 'ApprovalAnswer', approval_id, answer: 'approved' });
    assert.equal(outcomeOf(await client.inbox.terminal('delete')), 'ok');
    assert.ok(!stage.has(file));
    client.send({ type: 'ApprovalAnswer', approval_id, answer: 'denied' });
    return assert.equal(outcomeOf(await client.inbox.refusal()), 'refused already_answered');
  });

  test('loses no running call and no event when the connection drops, and doubles none', async () => {
    const { traits, connect, stage } = transport();
    const client = await connect();
    await client.attach();
    client.send(readRequest(client, 'before'));
    await client.inbox.terminal('before');
    // Its refusal must not take the place of the answer.
    client.send(readRequest(client, 'before'));
    assert.equal(outcomeOf(await client.inbox.nthTerminal('before', 1)), 'refused request_id_reused');
    const name = stage.name();
    client.send(waitRequest(client, 'running', name));
    await client.inbox.until(isProgressOf('running'));
    await client.drop();
    if (traits.return === 'never') return assertStopped(transport(), name);
    const seen = client.inbox.messages.length;
    const after = lastEventId(client);
    await missesSome(transport(), client.sessionId, after);
    const back = await connect({ after: client });
    if (back !== client) await back.attach({ after, pending: ['running', 'before', 'never sent'] });
    if (back !== client) {
      assert.equal(outcomeOf(await back.inbox.terminal('never sent')), 'refused never_received');
      assert.equal(outcomeOf(await back.inbox.terminal('before')), 'ok');
      assert.deepEqual(back.inbox.terminals('running'), []);
    }
    stage.release(name);
    const answer = await back.inbox.terminal('running');
    await back.inbox.until((message) => isProgressOf('running')(message) && isLastChunk(message));
    await settled(back);
    const told = back === client ? printed(back, 'running') : printed(client, 'running') + printed(back, 'running');
    assert.equal(told, printedIn(answer));
    const ids = [
      ...client.inbox.messages.slice(0, seen),
      ...back.inbox.messages.slice(back === client ? seen : 0),
    ].flatMap((message) => (message.type === 'EventMessage' && message.id !== undefined ? [message.id] : []));
    assert.deepEqual(
      ids,
      ids.toSorted((one, other) => one - other),
    );
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(back.inbox.terminals('running').length, 1);
    return assert.equal(stage.runs(name), 1);
  });

  test('keeps the answer of a call that ended while no client was connected', async () => {
    const { traits, connect, stage, lastEventId: newest } = transport();
    const client = await connect();
    await client.attach();
    const name = stage.name();
    client.send(waitRequest(client, 'alone', name));
    await client.inbox.until(isProgressOf('alone'));
    await client.drop();
    stage.release(name);
    if (traits.return === 'never') return assert.equal(stage.runs(name), 0);
    await eventually(() => stage.runs(name) === 1, 'the end of the call');
    // Asking a few times gives the host time to do what it does at the end of a call.
    for (let times = 0; times < 5; times++) await newest?.(client.sessionId);
    const back = await connect({ after: client });
    if (back !== client) await back.attach({ pending: ['alone'] });
    assert.match(printedIn(await back.inbox.terminal('alone')), /done/);
    await settled(back);
    return assert.equal(back.inbox.terminals('alone').length, 1);
  });

  test('answers once also when a connection joins the session it has calls in', async () => {
    const { traits, connect, stage } = transport();
    const client = await connect();
    await client.attach();
    const name = stage.name();
    client.send(waitRequest(client, 'own', name));
    await client.inbox.until(isProgressOf('own'));
    // Over HTTP a client that waits for the answer of a request need not ask for it.
    if (traits.return === 'requests') await client.attach();
    else await client.attach({ pending: ['own'] });
    stage.release(name);
    await client.inbox.terminal('own');
    await settled(client);
    assert.equal(client.inbox.terminals('own').length, 1);
  });

  test('says in its own way how to join a session', async () => {
    const { traits, connect } = transport();
    const client = await connect();
    if (traits.return !== 'requests') {
      await client.attach({ events: 'all' });
      client.send(readRequest(client, 'watched'));
      await client.inbox.until(isEvent('CallStatusChanged'));
      return assert.equal(outcomeOf(await client.inbox.terminal('watched')), 'ok');
    }
    client.send({ type: 'SessionAttach', session_id: client.sessionId });
    assert.equal(outcomeOf(await client.inbox.refusal()), 'refused needs_connection');
    await client.attach({ events: 'all' });
    client.send(readRequest(client, 'watched'));
    await client.inbox.terminal('watched');
    await client.inbox.until(isEvent('CallStatusChanged'));
    return undefined;
  });

  test('an end in order waits for the running calls', async () => {
    const { traits, connect, stage } = transport();
    const client = await connect();
    if (traits.streams === 'two') await client.attach();
    const name = stage.name();
    client.send(waitRequest(client, 'last', name));
    await client.inbox.until(isProgressOf('last'));
    const ended = client.endSession('wait');
    if (traits.return !== 'never') await refusesCalls(client);
    assert.deepEqual(client.inbox.terminals('last'), []);
    stage.release(name);
    assert.equal(outcomeOf(await client.inbox.terminal('last')), 'ok');
    await ended;
    assert.equal(stage.runs(name), 1);
    if (traits.return === 'never') return assert.match(await client.inbox.untilEnd(), /^exit 0 /);
    return refusesCalls(client);
  });

  test('an end at once cancels the running calls, each of which still has its answer', async () => {
    const { traits, connect, stage } = transport();
    const client = await connect();
    if (traits.streams === 'two') await client.attach();
    const name = stage.name();
    client.send(waitRequest(client, 'last', name));
    await client.inbox.until(isProgressOf('last'));
    await client.endSession('cancel');
    const answer = await client.inbox.terminal('last');
    assert.ok(answer.type === 'ToolResponse' && answer.errors[0]?.details?.['reason'] === 'cancelled');
    assert.equal(stage.runs(name), 0);
    if (traits.return !== 'never') await refusesCalls(client);
  });

  test('a session that falls silent ends, and its calls with it; one that beats goes on [S0-7]', async () => {
    const { traits, connect } = transport();
    if (traits.return === 'never') {
      // The process lives as long as its pipes: there is no silence to be afraid of.
      const client = await connect();
      client.send(heartbeat(client));
      await client.inbox.until((message) => message.type === 'Heartbeat');
      return;
    }
    // A machine that stops for longer than the limit silences the other session as well: then the limit grows.
    for (let limitMs = traits.patienceMs; ; limitMs *= 2) {
      const problem = await oneFallsSilent(transport(), limitMs);
      if (problem === undefined) return;
      assert.ok(limitMs < MAX_PATIENCE_MS, problem);
    }
  });
}

/** Two sessions with the same limit, of which one sends heartbeats. Says what did not happen as it should. */
async function oneFallsSilent({ connect, stage }: Transport, heartbeatTimeoutMs: number): Promise<string | undefined> {
  const [silent, beating] = [await connect({ heartbeatTimeoutMs }), await connect({ heartbeatTimeoutMs })];
  const beats = setInterval(() => beating.send(heartbeat(beating)), heartbeatTimeoutMs / 10);
  try {
    const names = [stage.name(), stage.name()] as const;
    silent.send(waitRequest(silent, 'abandoned', names[0]));
    beating.send(waitRequest(beating, 'kept', names[1]));
    const abandoned = await silent.inbox.terminal('abandoned').then(reasonOf, String);
    if (abandoned !== 'cancelled') return `the call of the silent session ended with ${abandoned}`;
    await refusesCalls(silent);
    assert.equal(stage.runs(names[0]), 0);
    stage.release(names[1]);
    const kept = await beating.inbox.terminal('kept').then(outcomeOf, String);
    return kept === 'ok' ? undefined : `the call of the other session ended with ${kept}`;
  } finally {
    clearInterval(beats);
  }
}

function reasonOf(answer: ServerMessage): string {
  return answer.type === 'ToolResponse' ? String(answer.errors[0]?.details?.['reason']) : answer.type;
}

/**
 * Its end may still be on the way, so calls are sent until one is refused. A session that is gone is refused like one
 * that never was; a connection that comes back by itself ends with it.
 */
async function refusesCalls(client: Client): Promise<void> {
  const { inbox } = client;
  const outcome = await eventually(async () => {
    const requestId = `late-${inbox.messages.length}`;
    client.send(readRequest(client, requestId));
    const found = await Promise.race([inbox.terminal(requestId).then(outcomeOf, String), inbox.untilEnd()]);
    return found !== 'ok' && found;
  }, 'a refusal');
  assert.match(outcome, /unknown_session|session_closed|session_expired|token_invalid|not this one|Session is|1008/);
}

/** Resolves when things have happened that were not reported. */
async function missesSome({ lastEventId: newest }: Transport, sessionId: string, after: number): Promise<void> {
  await eventually(async () => newest !== undefined && (await newest(sessionId)) > after + 1, 'missed events');
}

/** Without a client that could come back, what runs is stopped. */
function assertStopped({ stage }: Transport, name: string): void {
  stage.release(name);
  assert.equal(stage.runs(name), 0);
}

function isEvent(event: string): (message: ServerMessage) => message is EventMessage {
  return (message): message is EventMessage => message.type === 'EventMessage' && message.event === event;
}

function isLastChunk(message: EventMessage): boolean {
  return String(message.data?.['chunk']).includes('done');
}

function lastEventId({ inbox }: Client): number {
  return Math.max(
    0,
    ...inbox.messages.flatMap((message) => (message.type === 'EventMessage' ? [message.id ?? 0] : [])),
  );
}
