import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Loopback, readText, sendJson, startLoopback } from '../../test/loopback-host.ts';
import { ModelHost, type ModelSession, refusal } from '../../test/model-host.ts';
import { rejection } from '../../test/rejection.ts';
import { type ConnectToHostOptions, connectToHost } from './connect-to-host.ts';

/** The model host with the session routes in front: every session has a token of its own, which ends with it. */
async function start(context: TestContext, heartbeat_timeout_ms = 60_000) {
  const host = new ModelHost();
  const bodies: unknown[] = [];
  const state: { session?: ModelSession } = {};
  const loopback: Loopback = await startLoopback(host, {
    session: () => state.session as ModelSession,
    async onHttp(request, response) {
      const { method, url = '', headers } = request;
      const [, id = ''] = /^\/v1\/sessions\/([^/?]+)(?:\?.*)?$/.exec(url) ?? [];
      const isKnown = host.sessions.has((headers.authorization ?? '').replace('Bearer token-', ''));
      if (method === 'POST' && url === '/v1/sessions') {
        if (headers.authorization !== 'Bearer host-token') {
          sendJson(response, 401, refusal(null, 'E_POLICY', 'token_invalid'));
          return true;
        }
        bodies.push(JSON.parse(await readText(request)));
        const session = host.openSession();
        state.session = session;
        sendJson(response, 201, openedOf(session, heartbeat_timeout_ms));
      } else if (method === 'DELETE') {
        host.sessions.delete(id);
        response.writeHead(204).end();
      } else if (!isKnown) sendJson(response, 401, refusal(null, 'E_POLICY', 'token_invalid'));
      else if (id !== '') sendJson(response, 200, infoOf(id));
      else return false;
      return true;
    },
  });
  context.after(() => loopback.close());
  const connect = (options: Partial<ConnectToHostOptions>) =>
    connectToHost({
      url: loopback.url,
      token: 'host-token',
      reconnect: { minDelayMs: 1, maxDelayMs: 5 },
      ...options,
    });
  return { host, loopback, bodies, connect };
}

const openedOf = ({ id }: ModelSession, heartbeat_timeout_ms: number) => ({
  session_id: id,
  token: `token-${id}`,
  server_version: '1',
  workspace: '/w',
  actor: 'a',
  heartbeat_timeout_ms,
  fingerprint: 'f',
  tools: [],
  side_effect_level: 'none',
  warnings: [],
});

const infoOf = (session_id: string) => ({
  session_id,
  workspace: '/w',
  actor: 'a',
  client: 'c',
  state: 'open',
  opened_at: 1,
  in_flight: 0,
  last_event_id: 0,
  heartbeat_timeout_ms: 60_000,
  fingerprint: 'f',
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

for (const transport of ['ws', 'http'] as const) {
  describe(`connecting to a host over ${transport}`, () => {
    test('opens a session, uses its token, comes back after a drop, and ends the session', async (context) => {
      const { host, loopback, bodies, connect } = await start(context);
      const client = await connect({ transport, session: { workspace: '/w' } });
      assert.deepEqual(bodies, [{ workspace: '/w' }]);
      assert.equal((await client.ready()).session_id, client.session.session_id);
      assert.equal((await client.call('t', { effect: 'a' })).ok, true);
      loopback.cutAll();
      assert.equal((await client.call('t', { effect: 'b' })).ok, true);
      assert.deepEqual([host.countOf('a'), host.countOf('b')], [1, 1]);
      const tokens = new Set(loopback.requests.filter(({ url }) => url === '/v1/call').map(({ token }) => token));
      if (transport === 'http') assert.deepEqual([...tokens], [`Bearer ${client.session.token}`]);
      else assert.equal(loopback.upgrades[0]?.protocols, `tool-runtime.v1, bearer.${client.session.token}`);
      await client.close();
      assert.equal(host.sessions.size, 0);
      assert.equal((await rejection(client.call('t', {}))).details['reason'], 'connection_closed');
    });

    test('beats three times within what the session allows [S0-7]', async (context) => {
      const { host, connect } = await start(context, 60);
      const client = await connect({ transport });
      const session = host.sessions.get(client.session.session_id);
      await until(() => (session?.beats ?? 0) >= 3);
      await client.close();
    });

    test('ends with its session, or opens another if that is wanted', async (context) => {
      const { host, loopback, connect } = await start(context);
      const [ends, reopens] = [await connect({ transport }), await connect({ transport, reopen: true })];
      const before = reopens.session.session_id;
      for (const { session } of [ends, reopens]) host.sessions.delete(session.session_id);
      loopback.cutAll();
      // Sent into the cut or held back, it gets no answer; from then on the client knows why.
      await rejection(ends.call('t', {}));
      const refused = await rejection(ends.call('t', {}));
      assert.deepEqual([refused.code, refused.details['status']], ['E_POLICY', 401]);
      const retried = reopens.call('t', { effect: 'a' }).catch(() => reopens.call('t', { effect: 'a' }));
      assert.equal((await retried).ok, true);
      assert.notEqual(reopens.session.session_id, before);
      assert.equal(host.countOf('a'), 1);
      await Promise.all([ends.close(), reopens.close()]);
      assert.equal(host.sessions.size, 0);
    });
  });
}

test('a wrong token is the refusal of the host', async (context) => {
  const { connect } = await start(context);
  const { code, details } = await rejection(connect({ token: 'wrong' }));
  assert.deepEqual([code, details['status']], ['E_POLICY', 401]);
});
