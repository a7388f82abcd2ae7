/** Paths that are spelled so that another program might read them as ours, and protocols that are not the one expected. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openHost, type TestHost, TOKENS } from '../open-host.ts';
import { exchange, readAnswer, writeRequest } from '../wire/raw-http.ts';
import { addressOf, openSocket } from '../wire/raw-socket.ts';
import { attempt } from './attempt.ts';

let host: TestHost;
before(async () => {
  host = await openHost();
});
after(() => host[Symbol.asyncDispose]());

/** As they are written, with `P` for the real path without its slash. */
const SPELLINGS = [
  '//P',
  '///P',
  '/P/',
  '/P//',
  '/./P',
  '/P/.',
  '/x/../P',
  '/../P',
  '/%2e/P',
  '/x/%2e%2e/P',
  '/x/..%2fP',
  '/%2fP',
  '/x%2f..%2fP',
  '/x\\..\\P',
  '/%5cP',
  '/P%00',
  '/P%20',
  '/P;x=1',
  '/P%3Fx',
  '/P#fragment',
  '/P?x=1#fragment',
  'P',
  '/%E0%80%AFP',
] as const;

describe('paths', () => {
  for (const spelling of SPELLINGS) {
    test(`have one spelling, which is not ${spelling}`, async () => {
      const [status, socket] = ['v1/status', 'v1/ws'].map((path) => spelling.replace('P', path));
      assert.match(await attempt(host, { target: status as string }), /^40[04] (unknown_route|malformed)$/);
      assert.match(
        await attempt(host, { target: socket as string, as: 'upgrade' }),
        /^40[04] (unknown_route|malformed)$/,
      );
    });
  }

  test('are taken as they are written', async () => {
    assert.equal(await attempt(host, { target: '/v1/status' }), '200');
    assert.equal(await attempt(host, { target: '/v1/ws', as: 'upgrade' }), '101');
  });

  test('are not the same in other letters, nor with needless codes in them', async () => {
    for (const target of ['/V1/STATUS', '/v1/%73tatus', '/%76%31/status', '/v1%2Fstatus', '/v1/stat%75s']) {
      assert.equal(await attempt(host, { target }), '404 unknown_route', target);
    }
    for (const target of ['/v1/WS', '/v1/%77s', '/v1/ws2', '/ws', '/', '/v1/events', '/v1/call']) {
      assert.equal(await attempt(host, { target, as: 'upgrade' }), '404 unknown_route', target);
    }
  });

  test('that name a host are refused, ours and others, whatever the Host header says', async () => {
    const own = new URL(host.url).host;
    for (const authority of [own, 'evil.example', `${own}@evil.example`]) {
      for (const scheme of ['http', 'https', 'ws', 'file']) {
        const target = `${scheme}://${authority}/v1/status`;
        assert.equal(await attempt(host, { target }), '400 malformed', target);
        const socket = `${scheme}://${authority}/v1/ws`;
        assert.equal(await attempt(host, { target: socket, as: 'upgrade' }), '400 malformed', target);
      }
    }
    assert.equal(await attempt(host, { target: '*', method: 'OPTIONS' }), '400 malformed');
  });

  test('do not climb out of a parameter, which may hold any id', async () => {
    const opened = (await (await host.request('/v1/sessions', { body: {} })).json()) as { session_id: string };
    const id = `${opened.session_id}`;
    for (const target of [`/v1/sessions/..%2fstatus`, `/v1/sessions/${id}%2f..%2f..%2fstatus`, '/v1/sessions/%2e%2e']) {
      assert.match(await attempt(host, { target }), /^404 unknown_(route|session)$/, target);
    }
    const odd = 'a/b ../é?#';
    const request = { type: 'ToolRequest', tool: 'file_read', args: { path: 'hello.txt' }, timestamp: 1 };
    const body = { ...request, request_id: odd, session_id: id };
    assert.equal((await host.request('/v1/call', { body })).status, 200);
    const answer = await host.request(`/v1/sessions/${id}/calls/${encodeURIComponent(odd)}`);
    assert.deepEqual([answer.status, ((await answer.json()) as { request_id: string }).request_id], [200, odd]);
  });

  test('that are very long are refused, and so are headers', async () => {
    const { maxHeaderBytes } = host.host.limits;
    const long = 'x'.repeat(maxHeaderBytes);
    assert.equal(await attempt(host, { target: `/v1/${long}` }), '431 headers_too_large');
    assert.equal(await attempt(host, { headers: [`X-Long: ${long}`] }), '431 headers_too_large');
    const many = Array.from({ length: 2000 }, (_, index) => `X-${index}: some value`);
    assert.equal(await attempt(host, { headers: many }), '431 headers_too_large');
    assert.equal(await attempt(host, { target: `/v1/${'x'.repeat(maxHeaderBytes / 2)}` }), '404 unknown_route');
    assert.equal(await attempt(host, { headers: [`X-Long: ${'x'.repeat(maxHeaderBytes / 2)}`] }), '200');
  });

  test('take the methods they are for', async () => {
    for (const [method, target] of [
      ['DELETE', '/v1/status'],
      ['PUT', '/v1/call'],
      ['TRACE', '/v1/status'],
      ['PATCH', '/v1/sessions'],
    ] as const) {
      assert.equal(await attempt(host, { method, target }), '405 method_not_allowed');
    }
    for (const header of ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: DELETE', '_method: DELETE']) {
      assert.equal(await attempt(host, { headers: [header] }), '200');
    }
    const answer = await exchange(addressOf(host.url), {
      method: 'HEAD',
      target: '/healthz',
      host: new URL(host.url).host,
    });
    assert.deepEqual([answer.status, answer.body.length], [200, 0]);
  });

  test('name parameters once, and those they know', async () => {
    assert.equal(await attempt(host, { target: '/v1/tools?session_id=a&session_id=b' }), '400 repeated_parameter');
    assert.equal(await attempt(host, { target: '/v1/tools?sessionid=a' }), '400 invalid_fields');
    assert.equal(await attempt(host, { target: '/v1/tools' }), '200');
  });
});

describe('other protocols', () => {
  const line = (session_id: string): string =>
    `${JSON.stringify({
      type: 'ToolRequest',
      tool: 'file_write',
      args: { path: 'smuggled.txt', content: 'x' },
      request_id: 'smuggled',
      session_id,
      timestamp: 1,
    })}\n`;
  const isWritten = async (session_id: string): Promise<boolean> =>
    (await host.request(`/v1/sessions/${session_id}/calls/smuggled`)).status !== 404;
  const open = async (): Promise<string> =>
    ((await (await host.request('/v1/sessions', { body: {} })).json()) as { session_id: string }).session_id;

  test('lines in the body of a request on the Unix socket are a body', async () => {
    const session = await open();
    const body = `\n${line(session)}\n`;
    const answer = await exchange({ path: host.socket }, { method: 'POST', target: '/healthz', body });
    assert.equal(answer.status, 405);
    assert.equal(await isWritten(session), false);
  });

  test('a request in between lines is no request', async () => {
    const session = await open();
    using socket = await openSocket({ path: host.socket });
    socket.write(`\n${writeRequest({ target: '/healthz' })}${line(session)}`);
    const seen: string[] = [];
    while (!seen.at(-1)?.includes('"smuggled"')) {
      seen.push(
        await socket.next((bytes) => {
          const end = bytes.indexOf('\n');
          return end === -1 ? undefined : [bytes.toString('utf8', 0, end), end + 1];
        }, 'a line'),
      );
    }
    assert.deepEqual(
      seen.map((text) => (JSON.parse(text) as { type: string }).type),
      ['SessionAck', 'ErrorMessage', 'ErrorMessage', 'ToolResponse'],
    );
    // The twin: as a line of its own the message counts.
    assert.equal(await isWritten(session), true);
  });

  test('a first message that comes with the connection is served', async () => {
    const session = await open();
    using socket = await openSocket({ path: host.socket });
    socket.write(line(session));
    await socket.next((bytes) => (bytes.includes('"smuggled"') ? [true, bytes.length] : undefined), 'the answer');
    assert.equal(await isWritten(session), true);
  });

  test('lines, TLS and mail on the HTTP port are refused', async () => {
    const session = await open();
    const hello = Buffer.from('16030100f4010000f0030300', 'hex');
    for (const bytes of [line(session), hello, 'EHLO evil.example\r\n', '\r\n\r\n\r\n{}\r\n', '\0\0\0\0']) {
      using socket = await openSocket(addressOf(host.url));
      socket.write(bytes);
      assert.equal((await readAnswer(socket)).status, 400);
      await socket.ended;
    }
    assert.equal(await isWritten(session), false);
    assert.equal(await attempt(host, { token: TOKENS.reader }), '200');
  });
});
