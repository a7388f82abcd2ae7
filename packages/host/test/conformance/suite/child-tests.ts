/** Child sessions over a connection: opened, called, ended, each message answered once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChildAck, ChildEnded, ChildOpen, ServerMessage } from '@tool-runtime/protocol';
import { childOpen, readRequest, toolRequest, waitRequest } from '../envelopes.ts';
import { outcomeOf } from '../inbox.ts';
import type { Client, Transport } from '../transport.ts';
import { isProgressOf, settled } from './call-tests.ts';

export function childTests(transport: () => Transport): void {
  test('opens a child that reads and cannot write, calls in its name, and says what it used [S3-45 S3-46]', async () => {
    const client = await transport().connect();
    const ack = await open(client, 'open', {});
    assert.equal(ack.parent_session_id, client.sessionId);
    assert.ok(ack.tools.includes('file_read') && !ack.tools.includes('file_write'));
    assert.ok(ack.manifest.stripped_capability_ids.includes('tool.file_write'));
    assert.deepEqual([ack.handoff.variant, ack.depth.current_depth], ['none', 1]);
    const child = { sessionId: ack.session_id };
    client.send(readRequest(child, 'reads'));
    assert.equal(outcomeOf(await client.inbox.terminal('reads')), 'ok');
    client.send(toolRequest(child, 'writes', 'file_write', { path: 'child.txt', content: 'x' }));
    assert.equal(outcomeOf(await client.inbox.terminal('writes')), 'E_POLICY');
    client.send(toolRequest(client, 'parent-writes', 'file_write', { path: 'parent.txt', content: 'x' }));
    assert.equal(outcomeOf(await client.inbox.terminal('parent-writes')), 'ok');
    client.send({ type: 'ChildEnd', request_id: 'end', session_id: ack.session_id });
    const { usage } = await client.inbox.until(isEnded('end'));
    assert.deepEqual([usage.calls, usage.errors], [2, 1]);
    client.send(readRequest(child, 'late'));
    assert.equal(outcomeOf(await client.inbox.terminal('late')), 'refused unknown_session');
    client.send(readRequest(client, 'parent-goes-on'));
    assert.equal(outcomeOf(await client.inbox.terminal('parent-goes-on')), 'ok');
  });

  test('every question for a child has one answer, and what is refused opens nothing [S3-47 S0-10]', async () => {
    const { connect } = transport();
    const client = await connect();
    const refused: readonly (readonly [string, Partial<ChildOpen>, string])[] = [
      ['stranger', { session_id: 'sess-none' }, 'unknown_session'],
      ['unknown-tool', { tools: ['no_such_tool'] }, 'undefined'],
      ['outside', { folder: '../..' }, 'undefined'],
      ['deeper', { depth: { max_depth: 99 } }, 'depth_overreach'],
    ];
    for (const [id, more, reason] of refused) {
      client.send(childOpen(client, id, more));
      const answer = await client.inbox.terminal(id);
      assert.ok(answer.type === 'ErrorMessage', id);
      if (reason !== 'undefined') assert.equal(outcomeOf(answer), `refused ${reason}`);
    }
    await open(client, 'once', {});
    client.send(childOpen(client, 'once'));
    assert.equal(outcomeOf(await client.inbox.terminal('once')), 'refused request_id_reused');
    client.send({ type: 'ChildEnd', request_id: 'no-child', session_id: client.sessionId });
    assert.equal(outcomeOf(await client.inbox.terminal('no-child')), 'refused no_child');
    await settled(client);
    const ids = [...refused.map(([id]) => id), 'no-child'];
    assert.deepEqual(
      ids.map((id) => client.inbox.terminals(id).length),
      ids.map(() => 1),
    );
    assert.equal(client.inbox.messages.filter(isAck('once')).length, 1);
  });

  test('a child has children of its own, which can do no more, and ends after them [S3-28]', async () => {
    const client = await transport().connect();
    const child = await open(client, 'child', { tools: ['file_read', 'grep'] });
    const parent = { sessionId: child.session_id };
    client.send(childOpen(parent, 'wider', { tools: ['file_write'] }));
    assert.equal((await client.inbox.terminal('wider')).type, 'ErrorMessage');
    const grandchild = await open(client, 'grandchild', { session_id: child.session_id, tools: ['file_read'] });
    assert.deepEqual([grandchild.tools, grandchild.depth.current_depth], [['file_read'], 2]);
    client.send({ type: 'ChildEnd', request_id: 'too-early', session_id: child.session_id });
    assert.equal(outcomeOf(await client.inbox.terminal('too-early')), 'refused children_open');
    client.send({ type: 'ChildEnd', request_id: 'all', session_id: child.session_id, mode: 'cancel' });
    await client.inbox.until(isEnded('all'));
    client.send(readRequest({ sessionId: grandchild.session_id }, 'late'));
    assert.equal(outcomeOf(await client.inbox.terminal('late')), 'refused unknown_session');
  });

  test('who has the token of a session calls in the name of a child only where it was opened [S3-46]', async () => {
    const { traits, connect } = transport();
    const client = await connect({ withSessionToken: true });
    const { session_id } = await open(client, 'open', {});
    client.send(readRequest({ sessionId: session_id }, 'here'));
    // Over HTTP no request knows of another: there the token of the child itself is needed.
    const isHeld = traits.streams === 'one' || traits.tokens === 'none';
    assert.equal(outcomeOf(await client.inbox.terminal('here')), isHeld ? 'ok' : 'refused unknown_session');
    const stranger = await connect({ withSessionToken: true });
    stranger.send(readRequest({ sessionId: session_id }, 'elsewhere'));
    const found = await Promise.race([
      stranger.inbox.terminal('elsewhere').then(outcomeOf, String),
      stranger.inbox.untilEnd(),
    ]);
    // On a Unix socket both ends are the same user's, who owns the child.
    const isSameUser = traits.tokens === 'none' && traits.return !== 'never';
    if (isSameUser) assert.equal(found, 'ok');
    else assert.match(found, /unknown_session|not this one/);
  });

  test('the end of a parent cancels what its child runs, which still has its answer [S3-49]', async () => {
    const { traits, connect, stage } = transport();
    const client = await connect();
    if (traits.streams === 'two') await client.attach();
    const name = stage.name();
    const child = await open(client, 'open', { tools: { type: 'inherit_allowlist' } });
    client.send(waitRequest({ sessionId: child.session_id }, 'last', name));
    await client.inbox.until((message) => isProgressOf('last')(message) || isOfChild(message, child.session_id));
    await client.endSession('cancel');
    const answer = await client.inbox.terminal('last');
    assert.ok(answer.type === 'ToolResponse' && answer.errors[0]?.details?.['reason'] === 'cancelled');
    assert.equal(stage.runs(name), 0);
  });
}

async function open(client: Client, requestId: string, more: Partial<ChildOpen>): Promise<ChildAck> {
  client.send(childOpen(client, requestId, more));
  const isAnswer = isAck(requestId);
  return client.inbox.until(isAnswer);
}

function isAck(requestId: string): (message: ServerMessage) => message is ChildAck {
  return (message): message is ChildAck => message.type === 'ChildAck' && message.request_id === requestId;
}

function isEnded(requestId: string): (message: ServerMessage) => message is ChildEnded {
  return (message): message is ChildEnded => message.type === 'ChildEnded' && message.request_id === requestId;
}

/** The progress of the child's call, as its parent hears of it. */
function isOfChild(message: ServerMessage, childId: string): boolean {
  return (
    message.type === 'EventMessage' &&
    message.event === 'ChildEvent' &&
    message.data?.['child_session_id'] === childId &&
    message.data['child_event'] === 'TaskProgress'
  );
}
