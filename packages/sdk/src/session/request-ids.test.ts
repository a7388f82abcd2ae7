import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestIds } from './request-ids.ts';

const FRESH = { isKeyed: false };
const numbered = (at: number, length: number) => `${at}`.padStart(length, 'x');

test('what is remembered is bounded in size as well as in number', () => {
  const ids = new RequestIds();
  for (let at = 0; at < 110_000; at++) ids.claim(numbered(at, 1000), FRESH);
  assert.ok(ids.chars <= 100_000 * 44, `${ids.chars} characters`);
  assert.equal(ids.has(numbered(109_999, 1000)), true);
  assert.equal(ids.has(numbered(0, 1000)), false, 'the oldest are forgotten');
});

test('ids of every length are told apart and refused when they come again', () => {
  const ids = new RequestIds();
  for (const length of [1, 36, 43, 44, 45, 1000]) {
    ids.claim(numbered(1, length), FRESH);
    ids.claim(numbered(2, length), FRESH);
    assert.throws(() => ids.claim(numbered(1, length), FRESH), /used before/);
    ids.claim(numbered(1, length), { isKeyed: true });
    ids.forget(numbered(1, length));
    ids.claim(numbered(1, length), FRESH);
  }
});
