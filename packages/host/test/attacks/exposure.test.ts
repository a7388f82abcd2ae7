/** Web pages, rebound names and tokens that are missing, wrong or in the wrong place; each beside one that is right. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openHost, type TestHost, TOKENS } from '../open-host.ts';
import { exchange, writeHead } from '../wire/raw-http.ts';
import { addressOf } from '../wire/raw-socket.ts';
import { type Attempt, attempt, outcomeOf } from './attempt.ts';

let host: TestHost;
let own = '';
before(async () => {
  host = await openHost({ allowOrigins: ['https://app.example'], allowHosts: ['host.example'] });
  own = new URL(host.url).host;
});
after(() => host[Symbol.asyncDispose]());

/** The same on a plain request and on an upgrade, over TCP and on the Unix socket. */
async function tryEverywhere(how: Attempt): Promise<string[]> {
  return Promise.all([
    attempt(host, { ...how, as: 'request' }),
    attempt(host, { ...how, as: 'upgrade' }),
    attempt(host, { ...how, as: 'request' }, { path: host.socket }),
    attempt(host, { ...how, as: 'upgrade' }, { path: host.socket }),
  ]);
}

const OK = ['200', '101', '200', '101'];
const all = (outcome: string): string[] => Array.from({ length: 4 }, () => outcome);

describe('web pages', () => {
  for (const headers of [
    ['Origin: https://evil.example'],
    ['Origin: null'],
    ['Origin: http://localhost.evil.example'],
    ['Origin: https://app.example.evil.example'],
    ['Origin: http://app.example'],
    ['Origin: https://app.example, https://evil.example'],
    ['Origin: https://app.example', 'Origin: https://evil.example'],
    ['Origin: '],
    ['Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: same-site'],
  ]) {
    test(`are refused when the browser says ${headers.join(' and ')}`, async () => {
      assert.deepEqual(await tryEverywhere({ headers }), all('403 origin_not_allowed'));
    });
  }

  test('are let in when the operator named them, and then may read the answer', async () => {
    const headers = ['Origin: https://app.example', 'Sec-Fetch-Site: cross-site'];
    assert.deepEqual(await tryEverywhere({ headers }), OK);
    const answer = await exchange(addressOf(host.url), { target: '/healthz', host: own, headers });
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://app.example');
    assert.equal(answer.headers.get('access-control-allow-credentials'), undefined);
  });

  test('of the host itself are let in', async () => {
    const headers = [`Origin: http://${own}`, 'Sec-Fetch-Site: same-origin'];
    assert.deepEqual(await attempt(host, { headers }), '200');
    assert.deepEqual(await attempt(host, { headers, as: 'upgrade' }), '101');
  });

  test('learn nothing from a preflight they are not allowed', async () => {
    const ask = (origin: string) =>
      exchange(addressOf(host.url), {
        method: 'OPTIONS',
        target: '/v1/call',
        host: own,
        headers: [`Origin: ${origin}`, 'Access-Control-Request-Method: POST'],
      });
    const [refused, allowed] = [await ask('https://evil.example'), await ask('https://app.example')];
    assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [403, undefined]);
    assert.deepEqual(
      [allowed.status, allowed.headers.get('access-control-allow-origin')],
      [204, 'https://app.example'],
    );
  });
});

describe('names that point at this machine (DNS rebinding)', () => {
  const port = () => new URL(host.url).port;
  for (const name of [
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    'local%68ost',
    'localhost@evil.example',
    'localhost/evil',
    'localhost evil.example',
  ]) {
    test(`are refused: ${name}`, async () => {
      const how = { host: `${name}:${port()}` };
      const outcomes = await Promise.all([attempt(host, how), attempt(host, { ...how, as: 'upgrade' })]);
      assert.deepEqual(outcomes, ['403 host_not_allowed', '403 host_not_allowed']);
      assert.equal(await attempt(host, { host: `localhost:${port()}` }), '200');
    });
  }

  test('are refused with another port, twice, or not at all', async () => {
    assert.equal(await attempt(host, { host: 'localhost:1' }), '403 host_not_allowed');
    assert.equal(await attempt(host, { host: 'localhost' }), '403 host_not_allowed');
    const none = writeHead({ target: '/v1/status', token: TOKENS.operator }).replace('Host: localhost\r\n', '');
    assert.equal((await exchange(addressOf(host.url), none)).status, 400);
    const twice = await attempt(host, { headers: [`Host: ${own}`] });
    assert.match(twice, /^40[03] /);
  });

  test('are let in when the operator named them', async () => {
    assert.equal(await attempt(host, { host: 'host.example' }), '200');
    assert.equal(await attempt(host, { host: 'HOST.example.:1234' }), '200');
  });
});

describe('tokens', () => {
  test('are needed: none is refused on TCP, and the kernel vouches on the Unix socket', async () => {
    const outcomes = await tryEverywhere({ token: null });
    assert.deepEqual(outcomes, ['401 token_missing', '401 token_missing', '200', '101']);
  });

  for (const [what, token] of [
    ['unknown', 'trt_nobody_has_this_token_0000000000000000000'],
    ['expired', TOKENS.expired],
    ['cut short', TOKENS.operator.slice(0, -1)],
    ['too long', 'x'.repeat(5000)],
  ] as const) {
    test(`that are ${what} are refused, also where none is needed`, async () => {
      for (const outcome of await tryEverywhere({ token })) assert.match(outcome, /^40[01] (token_invalid|malformed)$/);
    });
  }

  test('in the URL are refused even when they are right', async () => {
    for (const name of ['token', 'access_token', 'Authorization', 'bearer', '%74oken']) {
      for (const token of [null, TOKENS.operator]) {
        const query = `?${name}=${TOKENS.operator}`;
        assert.equal(await attempt(host, { token, target: `/v1/status${query}` }), '400 token_in_url');
        assert.equal(await attempt(host, { token, as: 'upgrade', target: `/v1/ws${query}` }), '400 token_in_url');
      }
    }
    assert.deepEqual(await tryEverywhere({}), OK);
  });

  test('given twice or in other forms are refused', async () => {
    const line = `Authorization: Bearer ${TOKENS.operator}`;
    const basic = `Authorization: Basic ${Buffer.from(`x:${TOKENS.operator}`).toString('base64')}`;
    assert.deepEqual(await tryEverywhere({ headers: [line] }), all('400 malformed'));
    assert.deepEqual(await tryEverywhere({ token: null, headers: [basic] }), all('400 malformed'));
    assert.deepEqual(
      await tryEverywhere({ token: null, headers: [`Authorization: ${TOKENS.operator}`] }),
      all('400 malformed'),
    );
    assert.deepEqual(await tryEverywhere({ token: null, headers: [line] }), OK);
  });

  test('as a sub-protocol count on an upgrade only', async () => {
    const headers = [`Sec-WebSocket-Protocol: tool-runtime.v1, bearer.${TOKENS.operator}`];
    assert.equal(await attempt(host, { token: null, headers }), '401 token_missing');
    assert.equal(await attempt(host, { token: null, headers, as: 'upgrade' }), '101');
    assert.equal(await attempt(host, { token: TOKENS.caller, headers, as: 'upgrade' }), '400 conflict');
    const two = [`Sec-WebSocket-Protocol: bearer.${TOKENS.operator}, bearer.${TOKENS.caller}`];
    assert.equal(await attempt(host, { token: null, headers: two, as: 'upgrade' }), '400 malformed');
  });

  test('in cookies and bodies are not looked for', async () => {
    const headers = [`Cookie: token=${TOKENS.operator}; Authorization=Bearer ${TOKENS.operator}`];
    assert.equal(await attempt(host, { token: null, headers }), '401 token_missing');
    const body = JSON.stringify({ token: TOKENS.operator });
    assert.equal(
      await attempt(host, { token: null, method: 'POST', target: '/v1/sessions', body }),
      '401 token_missing',
    );
    assert.equal(await attempt(host, { method: 'POST', target: '/v1/sessions', body: '{}' }), '201');
  });

  test('never come back in an answer or in the log', async () => {
    const chunks: string[] = [];
    host.log.on('data', (chunk) => chunks.push(String(chunk)));
    const answer = await exchange(addressOf(host.url), {
      target: `/v1/status?token=${TOKENS.operator}`,
      host: own,
      token: TOKENS.caller,
    });
    assert.equal(outcomeOf(answer), '400 token_in_url');
    assert.ok(!answer.body.includes(TOKENS.operator));
    assert.ok(!chunks.join('').includes(TOKENS.operator));
  });
});
