/** What is refused, each message exactly once and under its own id where it has one, and that all goes on after it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolRequest } from '@tool-runtime/protocol';
import { cancelRequest, heartbeat, readRequest, waitRequest } from '../envelopes.ts';
import { outcomeOf } from '../inbox.ts';
import { MAX_REQUEST_BYTES } from '../stage.ts';
import { createJudge } from '../traffic.ts';
import type { Client, Traits, Transport } from '../transport.ts';
import { settled } from './call-tests.ts';

export function refusalTests(transport: () => Transport): void {
  test('refuses a bad envelope once and names what is wrong with it [S0-3 S0-6]', async () => {
    const { traits, connect } = transport();
    const client = await connect();
    const judge = createJudge();
    for (const [request, path] of badEnvelopes(client)) {
      // One that is made for messages sends none of an unknown kind, and answers for the ids it made itself.
      if (traits.sends === 'messages' && (path === 'type' || path === 'request_id')) continue;
      assert.notDeepEqual(judge('ClientMessage', request), [], 'the published schema refuses it too');
      const before = client.inbox.messages.length;
      client.sendRaw(JSON.stringify(request));
      const id = request['request_id'];
      const isTrusted = typeof id === 'string' && id !== '';
      const refused = await (isTrusted ? client.inbox.terminal(id) : nextRefusal(client, before));
      assert.ok(refused.type === 'ErrorMessage');
      assert.deepEqual([refused.code, refused.details?.['path']], ['E_VALIDATION_FAIL', path]);
    }
    await settled(client);
  });

  test('refuses keys that come twice, and text that is no JSON [S0-3]', async () => {
    const { traits, connect } = transport();
    const client = await connect();
    if (traits.sends === 'messages') {
      // Its messages are objects, which have no key twice: the last one wins before anything is sent.
      const text = JSON.stringify(readRequest(client, 'twice')).replace('"path"', '"path":"other","path"');
      client.send(JSON.parse(text) as ToolRequest);
      return assert.equal(outcomeOf(await client.inbox.terminal('twice')), 'ok');
    }
    client.sendRaw(JSON.stringify(readRequest(client, 'twice')).replace('"path"', '"path":"other","path"'));
    assert.equal(outcomeOf(await client.inbox.terminal('twice')), 'refused duplicate_key');
    client.sendRaw('{"type":');
    assert.equal((await client.inbox.refusal()).type, 'ErrorMessage');
    await settled(client);
    return assert.equal(client.inbox.terminals(null).length, 1);
  });

  test('refuses a request that is too large, and is not ended by one that is far too large', async () => {
    const { traits, connect } = transport();
    const client = await connect();
    const large = (id: string, bytes: number) => {
      const request = readRequest(client, id);
      return { ...request, args: { path: 'x'.repeat(bytes) } };
    };
    client.send(large('fits', MAX_REQUEST_BYTES / 2));
    assert.equal((await client.inbox.terminal('fits')).type, 'ToolResponse');
    client.send(large('large', MAX_REQUEST_BYTES));
    const refused = await (traits.streams === 'one' || traits.sends === 'messages'
      ? client.inbox.terminal('large')
      : client.inbox.refusal());
    assert.equal(outcomeOf(refused), 'refused too_large');
    client.send(large('huge', 4 * MAX_REQUEST_BYTES));
    await afterMistake(transport(), client, traits.farTooLarge, 'too_large');
  });

  test('refuses bytes that are no UTF-8 [S0-6]', async () => {
    const { traits, connect } = transport();
    const client = await connect();
    const text = JSON.stringify(readRequest(client, 'bytes'));
    const at = text.indexOf('hello');
    if (traits.sends !== 'bytes') {
      // Half a character cannot leave such a client: it goes out as the sign for one that is missing.
      const request = { ...readRequest(client, 'bytes'), args: { path: '\ud800' } };
      if (traits.sends === 'messages') client.send(request);
      else client.sendRaw(JSON.stringify(request).replace('\\ud800', '\ud800'));
      return assert.notEqual(outcomeOf(await client.inbox.terminal('bytes')), 'ok');
    }
    client.sendRaw(Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.of(0xc3, 0x28), Buffer.from(text.slice(at))]));
    return afterMistake(transport(), client, traits.badBytes, 'invalid_utf8');
  });

  test('refuses what names another session, under its own id', async () => {
    const { traits, connect } = transport();
    const client = await connect();
    const nobody = { sessionId: 'sess-nobody' };
    client.send(readRequest(nobody, 'lost'));
    assert.equal(outcomeOf(await client.inbox.terminal('lost')), 'refused unknown_session');
    // One that comes back by itself has one session; it is over with it when the host knows none by that name.
    if (traits.return === 'by itself')
      return assert.match(await client.inbox.untilEnd(), /session that is not this one/);
    client.send(heartbeat(nobody));
    assert.equal(outcomeOf(await client.inbox.refusal()), 'refused unknown_session');
    client.send(readRequest(client, 'found'));
    return assert.equal(outcomeOf(await client.inbox.terminal('found')), 'ok');
  });

  test('refuses a request id that was used, unless the call carries an idempotency key [S0-10]', async () => {
    const { connect, stage } = transport();
    const client = await connect();
    const name = stage.name();
    stage.release(name);
    const more = { idempotency_key: `key-${client.sessionId}` };
    client.send(waitRequest(client, 'keyed', name, more));
    const first = await client.inbox.terminal('keyed');
    client.send(waitRequest(client, 'keyed', name, more));
    const second = await client.inbox.nthTerminal('keyed', 1);
    assert.ok(first.type === 'ToolResponse' && second.type === 'ToolResponse');
    assert.deepEqual([second.ok, second.data], [true, first.data]);
    assert.equal(stage.runs(name), 1);
    client.send(readRequest(client, 'plain'));
    assert.equal(outcomeOf(await client.inbox.terminal('plain')), 'ok');
    client.send(readRequest(client, 'plain'));
    assert.equal(outcomeOf(await client.inbox.nthTerminal('plain', 1)), 'refused request_id_reused');
    await settled(client);
    assert.equal(client.inbox.terminals('plain').length, 2);
  });

  test('reaches with the token of a session that session and no other', async () => {
    const { traits, connect, stage } = transport();
    if (traits.tokens === 'none') {
      // There is only one possible peer: its identity is settled before the first byte.
      const client = await connect();
      client.send({ ...readRequest(client, 'other'), session_id: 'sess-other' });
      return assert.equal(outcomeOf(await client.inbox.terminal('other')), 'refused unknown_session');
    }
    const [mine, theirs] = [await connect({ withSessionToken: true }), await connect({ withSessionToken: true })];
    if (traits.streams === 'two') await theirs.attach();
    const name = stage.name();
    theirs.send(waitRequest(theirs, 'theirs', name));
    await theirs.inbox.until((message) => message.type === 'EventMessage');
    mine.send(readRequest(theirs, 'foreign'));
    assert.equal(outcomeOf(await mine.inbox.terminal('foreign')), 'refused unknown_session');
    if (traits.return !== 'by itself') await refusesOthers(mine, theirs, traits);
    assert.deepEqual([mine.inbox.events('theirs'), theirs.inbox.terminals('theirs')], [[], []]);
    stage.release(name);
    return assert.equal(outcomeOf(await theirs.inbox.terminal('theirs')), 'ok');
  });
}

async function refusesOthers(mine: Client, theirs: Client, traits: Traits): Promise<void> {
  mine.send({ type: 'ApprovalAnswer', approval_id: 'approval.any', answer: 'approved' });
  assert.equal(outcomeOf(await mine.inbox.refusal()), 'refused scope_missing');
  mine.send(cancelRequest(theirs, 'theirs'));
  assert.equal(outcomeOf(await mine.inbox.refusal(1)), 'refused unknown_session');
  if (traits.return === 'attach') {
    mine.send({ type: 'SessionAttach', session_id: theirs.sessionId, after: 0, pending: ['theirs'] });
    assert.equal(outcomeOf(await mine.inbox.refusal(2)), 'refused unknown_session');
  }
  await settled(mine);
}

function badEnvelopes(client: Client): readonly (readonly [Record<string, unknown>, string])[] {
  const request = (id: string, more: object): Record<string, unknown> => ({ ...readRequest(client, id), ...more });
  const { tool: _tool, ...toolless } = readRequest(client, 'bad-1');
  return [
    [toolless, 'tool'],
    [request('bad-2', { tool: 5 }), 'tool'],
    [request('bad-3', { args: [] }), 'args'],
    [request('bad-4', { timestamp: 'now' }), 'timestamp'],
    [request('bad-5', { extra: 1 }), 'extra'],
    [request('bad-6', { type: 'ToolResponse' }), 'type'],
    [request('bad-7', { timeout_ms: 0 }), 'timeout_ms'],
    [request('', {}), 'request_id'],
    [{ type: 'Heartbeat' }, 'session_id'],
  ];
}

async function nextRefusal({ inbox }: Client, from: number) {
  await inbox.until((message) => inbox.messages.indexOf(message) >= from && message.type === 'ErrorMessage');
  return inbox.refusal(inbox.terminals(null).length - 1);
}

/** The message is refused and all goes on; or the connection ends, and the session is there for the next one. */
async function afterMistake(
  { traits, connect }: Transport,
  client: Client,
  what: 'refusal' | 'end',
  reason: string,
): Promise<void> {
  if (what === 'refusal') {
    const refused = await client.inbox.until(
      (message) => message.type === 'ErrorMessage' && message.details?.['reason'] === reason,
    );
    assert.ok(refused.type === 'ErrorMessage');
    return settled(client);
  }
  if (traits.return === 'by itself') {
    // The host ended the connection, and it is unknown whether it had read the request; the client finds out and says so.
    const answer = await client.inbox.terminal('huge');
    assert.equal(answer.type, 'ErrorMessage');
    return settled(client);
  }
  assert.equal(await client.inbox.untilEnd(), reason === 'too_large' ? '1009' : '1007');
  const back = await connect({ after: client });
  return settled(back);
}
