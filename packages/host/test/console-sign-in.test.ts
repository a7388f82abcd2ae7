import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createTokenBook } from '../src/auth/tokens.ts';
import { codeOf, type PageRequest, signedIn } from './console-sign-in.ts';
import { openHost, type TestHost, TOKENS } from './open-host.ts';

let host: TestHost;
before(async () => {
  host = await openHost({ allowOrigins: ['http://friend.example'] });
});
after(() => host[Symbol.asyncDispose]());

async function reasonIn(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { details?: Record<string, unknown> }).details?.['reason'];
}

const status = (how: PageRequest, headers: Record<string, string> = {}) =>
  host.request('/v1/status', { ...how, headers: { ...how.headers, ...headers } });

describe('signing in to the console', () => {
  test('gives a cookie that scripts cannot read and that no other site sends', async () => {
    const answer = await host.request('/v1/console/sign-in', {
      ...{ body: { code: await codeOf(host) }, token: '' },
      headers: { origin: host.url },
    });
    assert.equal(answer.status, 200);
    assert.match(
      answer.headers.get('set-cookie') ?? '',
      /^tool_runtime_console_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  test('works once, and not with a code that never was one', async () => {
    const code = await codeOf(host);
    const signIn = (given: string) =>
      host.request('/v1/console/sign-in', { body: { code: given }, token: '', headers: { origin: host.url } });
    assert.equal((await signIn(code)).status, 200);
    assert.equal((await signIn(code)).status, 401);
    assert.equal(await reasonIn(await signIn('made-up')), 'code_invalid');
    assert.ok((host.host.attempts.figures().failures['code_invalid'] ?? 0) >= 2);
  });

  test('is refused to pages of other origins, allowed ones included, and to requests without an origin', async () => {
    const code = await codeOf(host);
    const signIn = (headers: Record<string, string>) =>
      host.request('/v1/console/sign-in', { body: { code }, token: '', headers });
    for (const headers of [{}, { origin: 'http://friend.example' }, { origin: 'http://127.0.0.1:1' }]) {
      assert.equal((await signIn(headers as Record<string, string>)).status, 403);
    }
    assert.equal((await signIn({ origin: host.url })).status, 200);
  });

  test('links are made for an admin who has what the role may do', async () => {
    const make = (token: string) => host.request('/v1/console/links', { body: {}, token });
    assert.equal((await make(TOKENS.caller)).status, 403);
    assert.equal((await make(TOKENS.approver)).status, 403);
    assert.equal((await make(TOKENS.operator)).status, 201);
  });
});

describe('a request with the cookie of the console', () => {
  test('is served with the key of its page', async () => {
    const page = await signedIn(host);
    assert.equal((await status(page)).status, 200);
    const { origin: _, ...quiet } = page.headers;
    assert.equal((await host.request('/v1/status', { token: '', headers: quiet })).status, 200);
  });

  test('is refused without the key or with that of another page', async () => {
    const [page, other] = [await signedIn(host), await signedIn(host)];
    const { cookie } = page.headers;
    const alone = await host.request('/v1/status', { token: '', headers: { cookie } });
    assert.equal(alone.status, 401);
    assert.equal(await reasonIn(alone), 'console_key');
    assert.equal(await reasonIn(await status(page, { 'x-console-key': other.headers['x-console-key'] })), 'signed_out');
  });

  test('is refused from every other origin, also from one that the operator allows for tokens', async () => {
    const page = await signedIn(host);
    for (const origin of ['http://friend.example', 'http://127.0.0.1:1', 'null']) {
      assert.equal((await status(page, { origin })).status, 403, origin);
    }
    const friend = await host.request('/v1/status', { headers: { origin: 'http://friend.example' } });
    assert.equal(friend.status, 200);
  });

  test('changes nothing without the origin of the host', async () => {
    const page = await signedIn(host);
    const { origin: _, ...bare } = page.headers;
    const open = (headers: Record<string, string>) => host.request('/v1/sessions', { body: {}, token: '', headers });
    const refused = await open(bare);
    assert.equal(refused.status, 403);
    assert.equal(await reasonIn(refused), 'foreign_page');
    assert.equal((await open(page.headers)).status, 201);
  });

  test('of a viewer may look and not decide', async () => {
    const [viewer, approver] = [await signedIn(host, 'viewer'), await signedIn(host)];
    const seen = ['records', 'calls', 'families', 'registry', 'tools', 'sessions', 'mcp/servers'];
    for (const path of seen.map((name) => `/v1/${name}`)) {
      assert.equal((await host.request(path, { ...viewer })).status, 200, path);
    }
    for (const path of ['/v1/mcp/servers/any/refresh', '/v1/mcp/servers/any/approve']) {
      const body = path.endsWith('refresh') ? {} : { tools: [{ tool: 'any', digest: 'any' }] };
      assert.equal((await host.request(path, { ...viewer, body })).status, 403, path);
      assert.equal((await host.request(path, { ...approver, body })).status, 404, path);
    }
    assert.equal((await host.request('/v1/approvals', { ...viewer })).status, 403);
    assert.equal((await host.request('/v1/approvals/any', { ...viewer, body: { answer: 'approved' } })).status, 403);
    assert.equal((await host.request('/v1/sessions', { ...viewer, body: {} })).status, 403);
    assert.equal((await host.request('/v1/drain', { ...approver, method: 'POST' })).status, 403);
    assert.equal((await host.request('/v1/approvals', { ...approver })).status, 200);
    assert.equal((await host.request('/v1/approvals/any', { ...approver, body: { answer: 'denied' } })).status, 404);
  });

  test('is refused after the sign-out, and its open stream ends', async () => {
    await using own = await openHost({ limits: { heartbeatMs: 50 } });
    const page = await signedIn(own);
    const stream = await own.request('/v1/activity', { ...page });
    assert.equal(stream.status, 200);
    const out = await own.request('/v1/console/sign-out', { ...page, method: 'POST' });
    assert.equal(out.status, 204);
    assert.match(out.headers.get('set-cookie') ?? '', /Max-Age=0/);
    assert.equal((await own.request('/v1/status', { ...page })).status, 401);
    await stream.text();
  });

  test('is refused from the moment on that the token of its link is revoked, and its open stream ends', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'console-token-'));
    const path = join(folder, 'host.token');
    const write = (...lines: readonly string[]): void => {
      writeFileSync(`${path}.new`, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    };
    const other = `${TOKENS.other} name=other scopes=read,call`;
    write(`${TOKENS.operator} name=operator`, other);
    const clock = { ahead: 0 };
    const tokens = createTokenBook({ path, now: () => Date.now() + clock.ahead });
    try {
      await using own = await openHost({ tokens, limits: { heartbeatMs: 50 } });
      const page = await signedIn(own);
      const stream = await own.request('/v1/activity', { ...page });
      assert.equal((await own.request('/v1/status', { ...page })).status, 200);
      write(other);
      // The file is looked at once a second.
      clock.ahead += 2000;
      assert.equal((await own.request('/v1/status', { ...page })).status, 401);
      assert.equal((await own.request('/v1/status', { token: TOKENS.other })).status, 200);
      await stream.text();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('has no way around scopes through a token beside it', async () => {
    const page = await signedIn(host);
    const answer = await host.request('/v1/approvals', { ...page, token: TOKENS.reader });
    assert.equal(answer.status, 403);
  });
});

describe('what is about all sessions', () => {
  test('the console sees sessions of others and uses none of them', async () => {
    const page = await signedIn(host);
    const { session_id } = (await (await host.request('/v1/sessions', { body: {} })).json()) as { session_id: string };
    const { sessions } = (await (await host.request('/v1/sessions', { ...page })).json()) as {
      sessions: { session_id: string }[];
    };
    assert.ok(sessions.some((session) => session.session_id === session_id));
    const call = { type: 'ToolRequest', session_id, request_id: 'r', timestamp: 1, tool: 'fs_list', args: {} };
    assert.equal((await host.request('/v1/call', { ...page, body: call })).status, 404);
    assert.equal((await host.request(`/v1/sessions/${session_id}`, { ...page, method: 'DELETE' })).status, 404);
  });

  test('needs the scope audit, which a token of a session never has', async () => {
    const { token } = (await (await host.request('/v1/sessions', { body: {} })).json()) as { token: string };
    for (const path of ['/v1/records', '/v1/calls', '/v1/families', '/v1/registry', '/v1/activity', '/v1/journal']) {
      for (const other of [TOKENS.caller, TOKENS.reader, TOKENS.approver, token]) {
        assert.equal((await host.request(path, { token: other })).status, 403, path);
      }
    }
    const mine = (await (await host.request('/v1/sessions', { token: TOKENS.reader })).json()) as {
      sessions: unknown[];
    };
    assert.deepEqual(mine.sessions, []);
  });
});
