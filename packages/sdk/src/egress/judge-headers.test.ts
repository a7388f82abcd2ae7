import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeHeaders, judgeMethod } from './judge-headers.ts';

describe('judgeMethod', () => {
  test('gives methods in upper case [S0-39]', () => {
    assert.deepEqual(['get', 'POST', 'Patch', 'M-SEARCH'].map(judgeMethod), ['GET', 'POST', 'PATCH', 'M-SEARCH']);
  });

  for (const method of ['', 'GET /', 'GET\r\n', 'GET\tX', 'GÉT', 'G'.repeat(33), 'GET\0']) {
    test(`refuses ${JSON.stringify(method).slice(0, 20)} as a method [S0-39]`, () => {
      assert.throws(() => judgeMethod(method), { code: 'E_VALIDATION_FAIL', path: 'method' });
    });
  }

  for (const method of ['CONNECT', 'connect', 'TRACE', 'TRACK']) {
    test(`does not let ${method} be used [S0-39]`, () =>
      assert.throws(() => judgeMethod(method), { code: 'E_POLICY' }));
  }
});

describe('judgeHeaders', () => {
  test('takes ordinary headers and gives their names in lower case [S0-39]', () => {
    const headers = { Accept: 'text/*', 'X-Thing': '', Authorization: 'Bearer x', 'x-latin': 'caf\u00e9\t1' };
    assert.deepEqual(
      [...judgeHeaders(headers)],
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
  });

  for (const name of [
    ...['Host', 'host', 'Connection', 'Keep-Alive', 'Transfer-Encoding', 'CONTENT-LENGTH', 'Upgrade', 'TE', 'Trailer'],
    ...['Expect', 'Proxy-Authorization', 'proxy-connection', 'Proxy-Anything', 'HTTP2-Settings'],
  ]) {
    test(`keeps ${name} to itself [S0-39]`, () => {
      assert.throws(() => judgeHeaders({ [name]: 'x' }), { code: 'E_POLICY', path: `headers.${name}` });
      assert.equal(judgeHeaders({ [`X-${name}`]: 'x' }).size, 1);
    });
  }

  for (const [name, value] of [
    ['X', 'a\r\nHost: evil'],
    ['X', 'a\nb'],
    ['X', 'a\rb'],
    ['X', 'a\0b'],
    ['X', '\u0100'],
    ['X', '\u560d\u560a'],
    ['X', '\x7f'],
    ['X Y', 'a'],
    ['X\r\nHost', 'a'],
    ['X:', 'a'],
    ['', 'a'],
    ['Ä', 'a'],
  ] as const) {
    test(`refuses the header ${JSON.stringify(name)}: ${JSON.stringify(value)} [S0-39]`, () => {
      assert.throws(() => judgeHeaders({ [name]: value }), { code: 'E_VALIDATION_FAIL' });
    });
  }

  test('refuses one header in two spellings, and too many or too large ones [S0-39]', () => {
    assert.throws(() => judgeHeaders({ 'X-A': '1', 'x-a': '2' }), { code: 'E_VALIDATION_FAIL' });
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, '']));
    assert.equal(judgeHeaders(many(100)).size, 100);
    assert.throws(() => judgeHeaders(many(101)), { code: 'E_VALIDATION_FAIL' });
    assert.throws(() => judgeHeaders({ x: 'a'.repeat(40_000) }), { code: 'E_VALIDATION_FAIL' });
  });

  test('never repeats a value in its errors [S0-83]', () => {
    assert.throws(
      () => judgeHeaders({ Authorization: 'hush\n' }),
      (error: Error) => !JSON.stringify(error).includes('hush') && !error.message.includes('hush'),
    );
  });
});
