/**
 * Every entrance that wants a credential, with every kind of wrong one: refused, counted, limited and recorded, while a
 * right one works. The entrances come from the catalog of routes, so that a new route is tried without a new test.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { SessionOpened } from '@tool-runtime/protocol';
import { createToken } from '../../src/auth/token-digest.ts';
import * as catalog from '../../src/http/routes/catalog.ts';
import { openHost, type TestHost, TOKENS } from '../open-host.ts';
import { exchange, type RawAnswer, type RawRequest } from '../wire/raw-http.ts';
import { type Address, addressOf } from '../wire/raw-socket.ts';

const LIMIT = 5;
const CLOSE = 'Connection: close';
const own = (host: TestHost): string => new URL(host.url).host;

/** Requests that need a credential, as the head of each. */
const ENTRANCES: Readonly<Record<string, RawRequest>> = {
  ...Object.fromEntries(
    Object.values(catalog)
      .filter(({ scope }) => scope !== 'open')
      .map(({ id, method, path, body, envelope }) => {
        const target = path.replaceAll(/\{\w+\}/g, 'none');
        const content = body === undefined && envelope === undefined ? {} : { body: '{}' };
        return [`route ${id}`, { method: method.toUpperCase(), target, ...content }];
      }),
  ),
  mcp: { method: 'POST', target: '/mcp', body: '{}', headers: ['Content-Type: application/json'] },
  'web socket': {
    target: '/v1/ws',
    headers: [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
    ],
  },
};

interface Wrong {
  readonly token?: string;
  readonly headers?: readonly string[];
  readonly query?: string;
}

async function revokedToken(host: TestHost): Promise<string> {
  const { session_id, token } = (await (await host.request('/v1/sessions', { body: {} })).json()) as SessionOpened;
  assert.equal((await host.request(`/v1/sessions/${session_id}`, { method: 'DELETE' })).status, 204);
  return token;
}

async function wrongKinds(host: TestHost): Promise<Readonly<Record<string, Wrong>>> {
  return {
    missing: {},
    wrong: { token: createToken() },
    expired: { token: TOKENS.expired },
    'of a closed session': { token: await revokedToken(host) },
    'a right one with a tail': { token: `${TOKENS.operator}0` },
    malformed: { headers: ['Authorization: Basic eDp5'] },
    'in the URL': { query: `?token=${TOKENS.operator}` },
    twice: { headers: [`Authorization: Bearer ${TOKENS.operator}`, `Authorization: Bearer ${TOKENS.operator}`] },
  };
}

function attempt(host: TestHost, entrance: RawRequest, wrong: Wrong, index: number): Promise<RawAnswer> {
  return exchange(addressOf(host.url), {
    ...entrance,
    host: own(host),
    target: `${entrance.target}${wrong.query ?? ''}`,
    ...(wrong.token === undefined ? {} : { token: wrong.token }),
    headers: [
      ...(entrance.headers ?? []),
      ...(wrong.headers ?? []),
      `X-Forwarded-For: 10.0.${index % 256}.1`,
      `Forwarded: for=10.1.${index % 256}.1`,
    ],
  });
}

/** With a right token. A stream does not end by itself: its head is enough. */
async function statusOf(host: TestHost, entrance: RawRequest, index: number): Promise<number> {
  if (entrance.target !== catalog.activity.path) {
    return (await attempt(host, entrance, { token: TOKENS.operator }, index)).status;
  }
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${TOKENS.operator}` };
  const { status } = await fetch(new URL(entrance.target, host.url), { headers, signal: stop.signal });
  stop.abort();
  return status;
}

async function figure(host: TestHost, name: string): Promise<number> {
  const text = await (await host.request('/metrics')).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

function logOf(host: TestHost): { text: string } {
  const log = { text: '' };
  host.log.on('data', (chunk: Buffer) => {
    log.text += chunk.toString();
  });
  return log;
}

describe('attempts with a wrong token', () => {
  for (const [name, entrance] of Object.entries(ENTRANCES)) {
    test(`are refused, counted and limited: ${name}`, async () => {
      await using host = await openHost({ limits: { maxAuthFailures: LIMIT } });
      const log = logOf(host);
      let count = 0;
      for (const [kind, wrong] of Object.entries(await wrongKinds(host))) {
        const { status, headers } = await attempt(host, entrance, wrong, count);
        count += 1;
        if (count <= LIMIT) assert.ok(status === 401 || status === 400, `${kind}: ${status}`);
        else {
          assert.equal(status, 429, kind);
          assert.equal(headers.get('connection'), 'close');
          assert.match(headers.get('retry-after') ?? '', /^([1-9]|[1-5]\d|60)$/);
        }
        assert.equal(await figure(host, 'tool_runtime_auth_failures_total'), count, kind);
      }
      assert.equal(await figure(host, 'tool_runtime_auth_limited_total'), count - LIMIT);
      assert.equal(await figure(host, 'tool_runtime_auth_failing_sources'), 1);
      // The twin: a right token from the same address is accepted at the same entrance.
      const status = await statusOf(host, entrance, count);
      assert.ok(![401, 429].includes(status), `a right token gets ${status}`);
      const events = log.text.split('\n').filter((line) => line.includes('"auth_'));
      assert.deepEqual(
        events.map((line) => (JSON.parse(line) as { event: string }).event),
        ['auth_failed', 'auth_limited'],
      );
      assert.doesNotMatch(log.text, /trt_|eDp5/);
    });
  }

  test('a thousand of them leave two lines, and one line with the sum when the host closes', async () => {
    const log = { text: '' };
    {
      await using host = await openHost({ limits: { maxAuthFailures: 20 } });
      host.log.on('data', (chunk: Buffer) => {
        log.text += chunk.toString();
      });
      for (let round = 0; round < 50; round++) {
        await Promise.all(
          Array.from({ length: 20 }, () =>
            host.request('/v1/status', { token: createToken() }).then((it) => it.text()),
          ),
        );
      }
      assert.equal(await figure(host, 'tool_runtime_auth_failures_total'), 1000);
      assert.equal((await host.request('/v1/status')).status, 200);
    }
    const events = log.text.split('\n').filter((line) => line.includes('"auth_'));
    const sums = events.map((line) => JSON.parse(line) as { event: string; source: string; failures?: number });
    assert.deepEqual(
      sums.map(({ event, source, failures }) => [event, source, failures]),
      [
        ['auth_failed', '127.0.0.1', undefined],
        ['auth_limited', '127.0.0.1', 21],
        ['auth_failures', '127.0.0.1', 1000],
      ],
    );
  });

  test('count against the user id on the Unix socket, over lines and HTTP', async () => {
    await using host = await openHost({ limits: { maxAuthFailures: 2 } });
    const log = logOf(host);
    chmodSync(host.socket, 0o666);
    chmodSync(dirname(host.socket), 0o755);
    const http = 'GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n';
    assert.match(await sayAsStranger(host, '\n'), /"token_missing"/);
    assert.match(await sayAsStranger(host, http), /^HTTP\/1\.1 401/);
    assert.match(await sayAsStranger(host, '\n'), /"auth_limited"/);
    assert.match(await sayAsStranger(host, http), /^HTTP\/1\.1 429/);
    assert.match(log.text, /"event":"auth_limited","source":"uid:12345"/);
    assert.equal(await figure(host, 'tool_runtime_auth_failures_total'), 4);
    // The twins: the owner of the host needs no token, and a stranger with one is let in.
    const address: Address = { path: host.socket };
    assert.equal((await exchange(address, { target: '/v1/status', headers: [CLOSE] })).status, 200);
    const withToken = http.replace('\r\n\r\n', `\r\nAuthorization: Bearer ${TOKENS.reader}\r\n\r\n`);
    assert.match(await sayAsStranger(host, withToken), /^HTTP\/1\.1 200/);
  });
});

async function sayAsStranger(host: TestHost, words: string): Promise<string> {
  const script = `
    const socket = require('node:net').connect(process.argv[1]);
    socket.on('data', (chunk) => { console.log(String(chunk)); socket.destroy(); });
    socket.write(${JSON.stringify(words)});
  `;
  const user = ['--reuid', '12345', '--regid', '12345', '--clear-groups'];
  return (await promisify(execFile)('setpriv', [...user, process.execPath, '-e', script, host.socket])).stdout;
}
