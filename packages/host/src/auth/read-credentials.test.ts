import assert from 'node:assert/strict';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readCredentials } from './read-credentials.ts';
import { createToken } from './token-digest.ts';

const TOKEN = createToken();
const plain = { isUpgrade: false };
const upgrade = { isUpgrade: true };
const request = (rawHeaders: string[], url = '/v1/call') => ({ rawHeaders, url });
const refusal = (reason: string) => (error: { code: string; details: { reason: string }; message: string }) =>
  error.code === 'E_POLICY' && error.details.reason === reason && !JSON.stringify(error.details).includes(TOKEN);

describe('readCredentials', () => {
  test('reads one bearer token in any spelling of the scheme, and nothing where there is no token', () => {
    assert.equal(readCredentials(request([]), plain), undefined);
    for (const value of [`Bearer ${TOKEN}`, `bearer  ${TOKEN}`, `BEARER ${TOKEN} `, 'Bearer abc/+~.-_==']) {
      const expected = value.trim().split(/ +/)[1];
      assert.equal(readCredentials(request(['Host', 'x', 'AUTHORIZATION', value]), plain), expected);
    }
  });

  for (const values of [
    [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`],
    ['Bearer'],
    ['Bearer '],
    [''],
    [TOKEN],
    ['Basic dXNlcjpwYXNz'],
    [`Bearer ${TOKEN} more`],
    [`Bearer ${TOKEN}, Bearer ${TOKEN}`],
    [`Bearer "${TOKEN}"`],
    ['Bearer a=b'],
    ['Bearer tök'],
    [`Bearer ${'x'.repeat(513)}`],
  ]) {
    test(`refuses Authorization: ${values.join(' | ').replaceAll(TOKEN, '<token>').slice(0, 50)}`, () => {
      const headers = values.flatMap((value) => ['Authorization', value]);
      assert.throws(() => readCredentials(request(headers), plain), refusal('malformed'));
    });
  }

  test('reads a sub-protocol on an upgrade only', () => {
    const one = request(['Sec-WebSocket-Protocol', `tool-runtime.v1, bearer.${TOKEN}`]);
    const two = request(['sec-websocket-protocol', 'tool-runtime.v1', 'Sec-WebSocket-Protocol', `bearer.${TOKEN}`]);
    assert.equal(readCredentials(one, upgrade), TOKEN);
    assert.equal(readCredentials(two, upgrade), TOKEN);
    assert.equal(readCredentials(one, plain), undefined);
    assert.equal(readCredentials(request(['Sec-WebSocket-Protocol', 'tool-runtime.v1']), upgrade), undefined);
    for (const offered of ['bearer.', 'bearer.a b', `bearer.${TOKEN},bearer.${TOKEN}`]) {
      const source = request(['Sec-WebSocket-Protocol', offered]);
      assert.throws(() => readCredentials(source, upgrade), refusal('malformed'));
    }
  });

  test('takes header and sub-protocol together only when they agree', () => {
    const both = (other: string) =>
      request(['Authorization', `Bearer ${TOKEN}`, 'Sec-WebSocket-Protocol', `bearer.${other}`]);
    assert.equal(readCredentials(both(TOKEN), upgrade), TOKEN);
    assert.throws(() => readCredentials(both(createToken()), upgrade), refusal('conflict'));
  });

  test('refuses a token in the URL, right or wrong, in any spelling of the name', () => {
    const headers = ['Authorization', `Bearer ${TOKEN}`];
    for (const url of [
      `/v1/ws?token=${TOKEN}`,
      '/v1/ws?access_token=wrong',
      '/v1/ws?a=b&Authorization=x',
      '/v1/ws?BEARER=x',
      '/v1/ws?%74oken=x',
      '/v1/ws?token',
      '/v1/ws?+token=x',
      `http://localhost/v1/ws?x#?&token=${TOKEN}`,
    ]) {
      assert.throws(() => readCredentials(request(headers, url), upgrade), refusal('token_in_url'), url);
    }
    for (const url of ['/v1/events?session_id=token', '/token', '/v1/call?tokens=3&after=4', '/v1/ws?', '']) {
      assert.equal(readCredentials(request(headers, url), upgrade), TOKEN, url);
    }
  });

  test('answers a token, nothing, or a refusal, whatever comes (deep)', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('authorization', 'sec-websocket-protocol', 'x'), text)),
        text,
        (headers, url) => {
          try {
            const token = readCredentials({ rawHeaders: headers.flat(), url }, upgrade);
            assert.ok(token === undefined || /^[\x21-\x7e]{1,512}$/.test(token));
          } catch (error) {
            assert.equal((error as { code: string }).code, 'E_POLICY');
          }
        },
      ),
    );
  });

  test('sees both of two headers that Node itself would have hidden', async () => {
    const server = createServer((incoming, response) => {
      assert.equal(incoming.headers.authorization, `Bearer ${TOKEN}`);
      try {
        response.end(readCredentials(incoming, plain));
      } catch (error) {
        response.end((error as { message: string }).message);
      }
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const ask = (headers: readonly string[]) =>
      new Promise<string>((done, fail) => {
        get({ port, headers: ['Host', 'localhost', ...headers] }, async (response) => {
          done(Buffer.concat(await response.toArray()).toString());
        }).on('error', fail);
      });
    try {
      assert.equal(await ask(['Authorization', `Bearer ${TOKEN}`]), TOKEN);
      const twice = ['Authorization', `Bearer ${TOKEN}`, 'Authorization', 'Bearer other-other-other'];
      assert.equal(await ask(twice), 'More than one Authorization header');
    } finally {
      server.close();
    }
  });
});
