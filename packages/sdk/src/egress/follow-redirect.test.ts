import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { followRedirect, type Hop, isRedirect } from './follow-redirect.ts';
import { judgeUrl } from './judge-url.ts';

const LISTED = ['a.test', 'b.test', 'a.test:8443'];

function hop(method: string, url = 'https://a.test/x'): Hop {
  const headers = new Map([
    ['authorization', 'Bearer x'],
    ['cookie', 'a=b'],
    ['x-api-key', 'k'],
    ['private-token', 't'],
    ['content-type', 'text/plain'],
    ['accept', '*/*'],
  ]);
  return { method, target: judgeUrl(url, LISTED), headers, body: Buffer.from('body') };
}

const follow = (from: Hop, status: number, location: string, followed = 0) =>
  followRedirect(from, { status, location }, followed, LISTED);

describe('followRedirect [S0-40]', () => {
  test('only five statuses are redirects [S0-40]', () => {
    const found = Array.from({ length: 1000 }, (_, status) => status).filter(isRedirect);
    assert.deepEqual(found, [301, 302, 303, 307, 308]);
  });

  for (const status of [301, 302, 303]) {
    test(`after ${status} a POST becomes a GET without body, and a HEAD stays one [S0-40]`, () => {
      const next = follow(hop('POST'), status, '/y');
      assert.deepEqual([next.method, next.body, next.headers.has('content-type')], ['GET', null, false]);
      assert.equal(follow(hop('HEAD'), status, '/y').method, 'HEAD');
    });
  }

  for (const status of [307, 308]) {
    test(`after ${status} method and body stay [S0-40]`, () => {
      const next = follow(hop('POST'), status, '/y');
      assert.deepEqual(
        [next.method, String(next.body), next.headers.get('content-type')],
        ['POST', 'body', 'text/plain'],
      );
    });
  }

  test('credentials stay on the same origin [S0-40]', () => {
    assert.deepEqual([...follow(hop('GET'), 307, '/y').headers.keys()], [...hop('GET').headers.keys()]);
  });

  for (const location of ['https://b.test/', 'https://a.test:8443/', '//b.test/']) {
    test(`credentials do not travel to ${location} [S0-40]`, () => {
      assert.deepEqual([...follow(hop('GET'), 307, location).headers.keys()], ['content-type', 'accept']);
    });
  }

  test('https does not fall back to http, and http may rise to https [S0-40]', () => {
    assert.throws(() => follow(hop('GET'), 302, 'http://a.test/'), {
      code: 'E_POLICY',
      message: 'Redirect leaves https: a.test',
    });
    assert.equal(follow(hop('GET', 'http://a.test/'), 302, 'https://a.test/').target.url.href, 'https://a.test/');
  });

  test('the fourth redirect is one too many, the third is not [S0-40]', () => {
    assert.equal(follow(hop('GET'), 302, '/y', 2).target.url.pathname, '/y');
    assert.throws(() => follow(hop('GET'), 302, '/y', 3), {
      code: 'E_POLICY',
      message: 'More than 3 redirects: a.test',
    });
  });

  test('a target that is not listed is refused by policy [S0-40]', () => {
    assert.throws(() => follow(hop('GET'), 302, 'https://evil.test/'), { code: 'E_POLICY' });
  });
});
