import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostAddress } from './host-wire.ts';

describe('the address of a host', () => {
  const rows = [
    ['http://127.0.0.1:7400', 'http://127.0.0.1:7400', 'ws://127.0.0.1:7400'],
    ['ws://127.0.0.1:7400/v1/ws', 'http://127.0.0.1:7400', 'ws://127.0.0.1:7400'],
    ['https://example.org/runtime/', 'https://example.org/runtime', 'wss://example.org/runtime'],
    ['wss://[::1]:1/a/v1/ws?x=1#y', 'https://[::1]:1/a', 'wss://[::1]:1/a'],
  ] as const;
  for (const [url, http, ws] of rows) {
    test(`is read from ${url}`, () => assert.deepEqual([hostAddress(url, 'http'), hostAddress(url, 'ws')], [http, ws]));
  }

  test('must not hold credentials, nor be of another scheme', () => {
    for (const url of ['http://token@host', 'http://:secret@host', 'file:///etc', 'nonsense']) {
      assert.throws(() => hostAddress(url, 'http'), TypeError);
    }
  });
});
