/** What a token of a session may do, and which sessions give way, seen from inside a real host. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, SCOPES } from '@tool-runtime/protocol';
import { openHost } from '../../test/open-host.ts';
import type { Principal } from '../auth/principal.ts';
import { createTokenBook } from '../auth/tokens.ts';

const OPERATOR: Principal = { id: 'token:operator', name: 'operator', scopes: new Set(SCOPES) };

/** The reason of a refusal, or `done`. */
async function outcome(act: () => unknown): Promise<unknown> {
  try {
    await act();
    return 'done';
  } catch (thrown) {
    return isToolError(thrown) ? thrown.details['reason'] : thrown;
  }
}

function tokenOf(sessionId: string): Principal {
  return { ...OPERATOR, scopes: new Set(['read', 'call']), sessionId };
}

describe('the token of a session', () => {
  test('has no scope that the token which opened it lacks', async () => {
    const [blind, seeing] = ['trt_calls_and_does_not_read_0000001', 'trt_calls_and_reads_00000000000002'];
    const lines = [`${blind} scopes=call name=blind`, `${seeing} scopes=read,call name=seeing`];
    await using host = await openHost({ tokens: createTokenBook({ lines, now: Date.now }) });
    for (const [token, expected] of [
      [blind, 403],
      [seeing, 200],
    ] as const) {
      const opened = await host.request('/v1/sessions', { token, body: {} });
      const own = (await opened.json()) as { token: string; session_id: string };
      assert.equal((await host.request(`/v1/sessions/${own.session_id}`, { token: own.token })).status, expected);
    }
  });

  test('is not made for a session that has ended meanwhile', async () => {
    await using host = await openHost();
    const session = await host.host.openSession(OPERATOR, {});
    assert.match(host.host.describe(session, OPERATOR).token, /^trt_/);
    await host.host.closeSession(session, {});
    assert.equal(await outcome(() => host.host.describe(session, OPERATOR)), 'session_closed');
  });

  test('ends the children of its session, and no other session [S3-48]', async () => {
    await using host = await openHost();
    const { children } = host.host;
    const [mine, theirs] = [await host.host.openSession(OPERATOR, {}), await host.host.openSession(OPERATOR, {})];
    const child = await children.open(mine, { agent_id: 'mine' });
    const other = await children.open(theirs, { agent_id: 'theirs' });
    const principal = tokenOf(mine.served.id);
    for (const { served } of [theirs, other]) {
      assert.equal(await outcome(() => children.endable(principal, served.id)), 'unknown_session');
    }
    assert.equal(children.endable(principal, child.served.id), child);
    assert.equal(children.endable(principal, mine.served.id), mine);
  });
});

test('a call that need not wait begins as it arrives', async () => {
  await using host = await openHost();
  const { served } = await host.host.openSession(OPERATOR, {});
  const start = (id: string) => {
    const named = { request_id: id, session_id: served.id, timestamp: 0 } as const;
    return served.start({ type: 'ToolRequest', tool: 'file_read', args: { path: 'hello.txt' }, ...named });
  };
  // The first one waits for its tool to be loaded.
  await start('first');
  const answer = start('second');
  assert.deepEqual(served.work, { running: 1, waiting: 0, asking: 0 });
  assert.ok((await answer).text.includes('"ok":true'));
});

describe('a full host', () => {
  test('ends a session whose client did not come back, but not the one a child is opened in', async () => {
    await using host = await openHost({ limits: { maxSessions: 2 } });
    const openFor = () => host.host.openSession(OPERATOR, {}, { isOfConnection: true });
    const [parent, gone] = [await openFor(), await openFor()];
    const child = await host.host.children.open(parent, { agent_id: 'first' });
    assert.equal(child.child.parentId, parent.served.id);
    assert.equal(await outcome(() => host.host.session(OPERATOR, gone.served.id)), 'unknown_session');
    await host.host.children.end(child, { cancel: false, by: 'test' });
    await host.host.openSession(OPERATOR, {});
    assert.equal(await outcome(() => host.host.children.open(parent, { agent_id: 'second' })), 'limit_reached');
    assert.equal(await outcome(() => host.host.session(OPERATOR, parent.served.id)), 'done');
  });
});
