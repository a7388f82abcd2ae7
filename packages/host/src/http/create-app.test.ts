import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHost, TOKENS } from '../../test/open-host.ts';
import { createTokenBook } from '../auth/tokens.ts';

test('the token of a session tells nothing about the host; a reading token does', async () => {
  await using host = await openHost();
  const opened = await host.request('/v1/sessions', { body: {}, token: TOKENS.caller });
  const { token, session_id } = (await opened.json()) as { token: string; session_id: string };
  for (const path of ['/v1/status', '/metrics']) {
    assert.equal((await host.request(path, { token })).status, 403, path);
    assert.equal((await host.request(path, { token: TOKENS.reader })).status, 200, path);
  }
  assert.equal((await host.request(`/v1/sessions/${session_id}`, { token })).status, 200);
});

test('a revoked token ends its stream of events, another keeps its own', async () => {
  const tokens = createTokenBook({ lines: [`${TOKENS.caller} scopes=read,call name=caller`], now: Date.now });
  await using host = await openHost({ tokens, limits: { heartbeatMs: 50 } });
  const opened = await host.request('/v1/sessions', { body: {}, token: TOKENS.caller });
  const { token, session_id } = (await opened.json()) as { token: string; session_id: string };
  const stream = await host.request('/v1/events', { token });
  const kept = await host.request(`/v1/events?session_id=${session_id}`, { token: TOKENS.caller });
  tokens.revokeSession(session_id);
  const reader = kept.body?.getReader();
  const beat = async (times: number): Promise<string> => {
    for (let left = times; left > 0; left--) if ((await reader?.read())?.done !== false) return 'over';
    return 'still open';
  };
  const ended = stream.text().then(() => 'ended');
  assert.equal(await Promise.race([ended, beat(20)]), 'ended', 'while the other has many beats');
  assert.equal(await beat(1), 'still open');
  await reader?.cancel();
});

test('a body is bounded and has one meaning; padded up to the limit it is taken', async () => {
  await using host = await openHost();
  const reasonOf = async (body: string): Promise<string> => {
    const answer = await host.request('/v1/sessions', { body });
    const { details } = (await answer.json()) as { details?: { reason?: string } };
    return `${answer.status} ${details?.reason ?? ''}`.trim();
  };
  const limit = 256 * 1024;
  assert.equal(await reasonOf(`{${' '.repeat(limit - 2)}}`), '201');
  assert.equal(await reasonOf(`{${' '.repeat(limit - 1)}}`), '413 too_large');
  assert.equal(await reasonOf('{"client":{"name":"a"}}'), '201');
  assert.equal(await reasonOf('{"client":{"name":"a"},"client":{"name":"b"}}'), '400 duplicate_key');
});

test('MCP needs a token with the scope call', async () => {
  await using host = await openHost();
  const ask = async (token: string): Promise<number> => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    return (await host.request('/mcp', { token, headers, body })).status;
  };
  assert.deepEqual([await ask(TOKENS.reader), await ask(TOKENS.approver)], [403, 403]);
  assert.equal(await ask(TOKENS.caller), 200);
});

test('answers are for no cache, no frame and no guess of their type', async () => {
  await using host = await openHost();
  for (const token of [TOKENS.operator, '']) {
    const { headers } = await host.request('/v1/status', { token });
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  }
});
