import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Backoff } from './backoff.ts';

const times = <Value>(count: number, next: () => Value) => Array.from({ length: count }, next);

describe('backing off', () => {
  test('doubles up to the limit, and begins anew after a reset', () => {
    const backoff = new Backoff({ minDelayMs: 100, maxDelayMs: 1000, random: () => 1 });
    assert.deepEqual(
      times(6, () => backoff.next()),
      [100, 200, 400, 800, 1000, 1000],
    );
    backoff.reset();
    assert.equal(backoff.next(), 100);
  });

  test('leaves the upper half to chance and stays a number for ever', () => {
    const lowest = new Backoff({ minDelayMs: 100, maxDelayMs: 1000, random: () => 0 });
    assert.deepEqual(
      times(3, () => lowest.next()),
      [50, 100, 200],
    );
    const random = new Backoff({ minDelayMs: 1 });
    for (const delay of times(5000, () => random.next())) assert.ok(delay > 0 && delay <= 10_000);
  });
});
