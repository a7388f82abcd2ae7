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
  await stream.text();
  const first = await kept.body?.getReader().read();
  assert.equal(first?.done, false);
});
