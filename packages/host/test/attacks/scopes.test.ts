/** Tokens that reach for more than they may, and sessions that another user owns or that were never opened. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SessionInfo, SessionOpened } from '@tool-runtime/protocol';
import { createTokenBook } from '../../src/auth/tokens.ts';
import { openHost, type TestHost, type TestRequest, TOKENS } from '../open-host.ts';
import { addressOf } from '../wire/raw-socket.ts';
import { type Frame, nextAfterPings, nextFrame, readCloseCode, upgrade, writeFrame } from '../wire/raw-web-socket.ts';
import { attempt } from './attempt.ts';

let host: TestHost;
before(async () => {
  host = await openHost();
});
after(() => host[Symbol.asyncDispose]());

/** `200`, or `403 scope_missing`. */
async function ask(path: string, how: TestRequest): Promise<string> {
  const answer = await host.request(path, how);
  const text = await answer.text();
  if (answer.status < 400) return String(answer.status);
  const { details } = JSON.parse(text) as { details?: { reason?: string } };
  return `${answer.status} ${details?.reason}`;
}

async function open(token: string): Promise<SessionOpened> {
  const answer = await host.request('/v1/sessions', { token, body: {} });
  assert.equal(answer.status, 201);
  return (await answer.json()) as SessionOpened;
}

let ids = 0;
function envelope(type: string, fields: object): object {
  ids += 1;
  return { type, timestamp: 1, ...(type === 'ToolRequest' ? { request_id: `r${ids}` } : {}), ...fields };
}

function read(session_id: string): object {
  return envelope('ToolRequest', { session_id, tool: 'file_read', args: { path: 'hello.txt' } });
}

describe('scopes', () => {
  test('a reader reads, and neither opens sessions nor calls', async () => {
    const token = TOKENS.reader;
    const { session_id } = await open(TOKENS.caller);
    assert.equal(await ask('/v1/status', { token }), '200');
    assert.equal(await ask('/v1/sessions', { token }), '200');
    assert.equal(await ask('/v1/sessions', { token, body: {} }), '403 scope_missing');
    assert.equal(await ask('/v1/call', { token, body: read(session_id) }), '403 scope_missing');
    assert.equal(await ask(`/v1/sessions/${session_id}`, { token, method: 'DELETE' }), '403 scope_missing');
    assert.equal(await attempt(host, { token, as: 'upgrade' }), '403 scope_missing');
    assert.equal(await ask('/v1/drain', { token, body: {} }), '403 scope_missing');
  });

  test('a caller calls, and neither sees nor answers questions, nor stops the host', async () => {
    const token = TOKENS.caller;
    const { session_id } = await open(token);
    assert.equal(await ask('/v1/call', { token, body: read(session_id) }), '200');
    assert.equal(await ask('/v1/approvals', { token }), '403 scope_missing');
    const answer = { answer: 'approved' };
    assert.equal(await ask('/v1/approvals/approval.x', { token, body: answer }), '403 scope_missing');
    const message = { type: 'ApprovalAnswer', approval_id: 'approval.x', ...answer };
    assert.equal(await ask('/v1/call', { token, body: message }), '403 scope_missing');
    assert.equal(await ask('/v1/drain', { token, body: {} }), '403 scope_missing');
    assert.equal(host.host.state, 'ready');
  });

  test('an approver sees questions, and neither reads nor calls', async () => {
    const token = TOKENS.approver;
    assert.equal(await ask('/v1/approvals', { token }), '200');
    assert.equal(await ask('/v1/approvals/approval.x', { token, body: { answer: 'denied' } }), '404 unknown_approval');
    assert.equal(await ask('/v1/status', { token }), '403 scope_missing');
    assert.equal(await ask('/v1/sessions', { token, body: {} }), '403 scope_missing');
    assert.equal(await ask('/v1/drain', { token, body: {} }), '403 scope_missing');
  });

  test('health needs no token, and tells nothing but health', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const answer = await host.request(path, { token: '' });
      assert.deepEqual([answer.status, Object.keys((await answer.json()) as object)], [200, ['status']]);
    }
    assert.equal(await ask('/v1/status', { token: '' }), '401 token_missing');
  });
});

describe('the token of a session', () => {
  test('opens no sessions, sees no questions and does not stop the host', async () => {
    const { token, session_id } = await open(TOKENS.operator);
    assert.equal(await ask('/v1/call', { token, body: read(session_id) }), '200');
    assert.equal(await ask('/v1/sessions', { token, body: {} }), '403 session_token');
    assert.equal(await ask('/v1/approvals', { token }), '403 scope_missing');
    assert.equal(await ask('/v1/approvals/x', { token, body: { answer: 'approved' } }), '403 scope_missing');
    assert.equal(await ask('/v1/drain', { token, body: {} }), '403 scope_missing');
  });

  test('reaches nothing of another session, though both belong to the operator', async () => {
    const [mine, theirs] = [await open(TOKENS.operator), await open(TOKENS.operator)];
    const { token } = mine;
    const request = { ...read(theirs.session_id), request_id: 'secret' };
    assert.equal(await ask('/v1/call', { token: theirs.token, body: request }), '200');
    const paths = (session_id: string): readonly (readonly [string, string])[] => [
      ['GET', `/v1/sessions/${session_id}`],
      ['GET', `/v1/sessions/${session_id}/calls/secret`],
      ['GET', `/v1/tools?session_id=${session_id}`],
    ];
    for (const [method, path] of paths(theirs.session_id)) {
      assert.equal(await ask(path, { token, method }), '404 unknown_session', path);
      assert.equal(await ask(path, { token: theirs.token, method }), '200', path);
    }
    const events = `/v1/events?session_id=${theirs.session_id}&after=0`;
    assert.equal(await ask(events, { token }), '404 unknown_session');
    for (const message of [
      read(theirs.session_id),
      envelope('Heartbeat', { session_id: theirs.session_id }),
      envelope('CancelRequest', { session_id: theirs.session_id, request_id: 'secret' }),
    ]) {
      assert.equal(await ask('/v1/call', { token, body: message }), '404 unknown_session');
    }
    const target = `/v1/ws?session_id=${theirs.session_id}`;
    assert.equal(await attempt(host, { token, target, as: 'upgrade' }), '404 unknown_session');
    assert.equal(await attempt(host, { token: theirs.token, target, as: 'upgrade' }), '101');
    assert.equal(await ask(`/v1/sessions/${theirs.session_id}`, { token, method: 'DELETE' }), '404 unknown_session');
    const listed = (await (await host.request('/v1/sessions', { token })).json()) as { sessions: SessionInfo[] };
    assert.deepEqual(
      listed.sessions.map((session) => session.session_id),
      [mine.session_id],
    );
    assert.equal(await ask(`/v1/sessions/${theirs.session_id}`, { token: theirs.token, method: 'DELETE' }), '204');
  });

  test('dies with its session', async () => {
    const { token, session_id } = await open(TOKENS.caller);
    assert.equal(await ask(`/v1/sessions/${session_id}`, { token }), '200');
    assert.equal(await ask(`/v1/sessions/${session_id}`, { token, method: 'DELETE' }), '204');
    assert.equal(await ask(`/v1/sessions/${session_id}`, { token }), '401 token_invalid');
    assert.equal(await attempt(host, { token, as: 'upgrade' }), '401 token_invalid');
  });
});

describe('a token that is taken back', () => {
  test('ends the connections that came with it, and what they still send is not heard (deep)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tokens-'));
    const path = join(folder, 'tokens');
    const write = (lines: readonly string[]): void => writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 });
    const kept = `${TOKENS.operator} name=operator`;
    write([kept, `${TOKENS.caller} scopes=read,call name=caller`]);
    await using own = await openHost({
      tokens: createTokenBook({ path, now: Date.now }),
      limits: { heartbeatMs: 100 },
    });
    const connect = async (token: string) => {
      const { socket } = await upgrade(addressOf(own.url), { host: new URL(own.url).host, token });
      const ack = JSON.parse(String((await nextFrame(socket)).payload)) as { session_id: string };
      return { socket, sessionId: ack.session_id };
    };
    const revoked = await connect(TOKENS.caller);
    write([kept]);
    assert.equal(await readCloseCode(revoked.socket), 1008);
    revoked.socket.write(writeFrame(JSON.stringify(read(revoked.sessionId))));
    await revoked.socket.ended;
    const twin = await connect(TOKENS.operator);
    twin.socket.write(writeFrame(JSON.stringify(read(twin.sessionId))));
    const isAnswer = ({ payload }: Frame): boolean => String(payload).includes('"ToolResponse"');
    while (!isAnswer(await nextAfterPings(twin.socket)));
    const results = Array.from(own.host.workspaces.all[0]?.runtime.records({ kind: 'result' }) ?? []);
    assert.equal(results.length, 1);
    for (const { socket } of [revoked, twin]) socket.cut();
    rmSync(folder, { recursive: true });
  });
});

describe('sessions', () => {
  test('belong to the principal that opened them; an admin reaches all', async () => {
    const { session_id } = await open(TOKENS.caller);
    const path = `/v1/sessions/${session_id}`;
    const outcomes = async (token: string): Promise<string[]> => [
      await ask(path, { token }),
      await ask('/v1/call', { token, body: read(session_id) }),
      await attempt(host, { token, as: 'upgrade', target: `/v1/ws?session_id=${session_id}` }),
    ];
    assert.deepEqual(await outcomes(TOKENS.caller), ['200', '200', '101']);
    assert.deepEqual(await outcomes(TOKENS.operator), ['200', '200', '101']);
    assert.deepEqual(
      await outcomes(TOKENS.other),
      Array.from({ length: 3 }, () => '404 unknown_session'),
    );
    assert.equal(await ask(path, { token: TOKENS.other, method: 'DELETE' }), '404 unknown_session');
  });

  test('have no id that a client chose (fixation)', async () => {
    const before = host.host.status().sessions;
    const chosen = 'sess-00000000-0000-4000-8000-000000000000';
    const { token } = await open(TOKENS.caller);
    for (const body of [{ session_id: chosen }, { id: chosen }, { token: 'trt_chosen' }]) {
      assert.equal(await ask('/v1/sessions', { token: TOKENS.caller, body }), '400 invalid_fields');
    }
    for (const as of [token, TOKENS.caller, TOKENS.operator]) {
      assert.equal(await ask('/v1/call', { token: as, body: read(chosen) }), '404 unknown_session');
      const target = `/v1/ws?session_id=${chosen}`;
      assert.equal(await attempt(host, { token: as, target, as: 'upgrade' }), '404 unknown_session');
    }
    assert.equal(host.host.status().sessions, before + 1);
  });

  test('are answered alike whether they are unknown or owned by another principal', async () => {
    const { session_id } = await open(TOKENS.caller);
    const answers = await Promise.all(
      [session_id, `${session_id}x`].map(async (id) => {
        const answer = await host.request(`/v1/sessions/${id}`, { token: TOKENS.other });
        return [answer.status, await answer.text()];
      }),
    );
    assert.deepEqual(answers[0], answers[1]);
  });

  test('have ids and tokens that cannot be guessed', async () => {
    const opened = await Promise.all(Array.from({ length: 50 }, () => open(TOKENS.caller)));
    assert.equal(new Set(opened.flatMap(({ session_id, token }) => [session_id, token])).size, 100);
    for (const { token } of opened) assert.ok(Buffer.from(token.slice('trt_'.length), 'base64url').length >= 24, token);
  });

  test('work in the folders the operator allows, however others are spelled', async () => {
    const token = TOKENS.caller;
    for (const workspace of ['/', '/etc', '..', `${host.workspace}/..`, `${host.workspace}/.`, host.state, 'nobody']) {
      assert.equal(await ask('/v1/sessions', { token, body: { workspace } }), '403 workspace_not_allowed', workspace);
    }
    assert.equal(await ask('/v1/sessions', { token, body: { workspace: host.workspace } }), '201');
    assert.equal(await ask('/v1/sessions', { token, body: { workspace: 'workspace' } }), '201');
  });
});
