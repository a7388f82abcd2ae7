import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatBudgets, judgeBudget } from './budget.ts';

describe('judgeBudget', () => {
  test('meets an upper limit at it and below, and misses it above', () => {
    const met = [9, 10, 10.1].map((measured) => judgeBudget({ name: 'a', atMost: 10, unit: 'µs', measured }).met);
    assert.deepEqual(met, [true, true, false]);
  });

  test('meets a lower limit at it and above, and misses it below', () => {
    const met = [3, 2, 1.9].map((measured) => judgeBudget({ name: 'a', atLeast: 2, unit: 'x', measured }).met);
    assert.deepEqual(met, [true, true, false]);
  });

  test('misses with no figure at all', () => {
    assert.equal(judgeBudget({ name: 'a', atMost: 10, unit: 'µs', measured: Number.NaN }).met, false);
  });
});

describe('formatBudgets', () => {
  test('says wanted, measured and the verdict in one line', () => {
    const text = formatBudgets([
      judgeBudget({ name: 'verify', atLeast: 200_000, unit: 'records/s', measured: 150_000 }),
    ]);
    assert.match(text, /verify +>= 200,000 records\/s +150,000 records\/s +missed$/);
  });
});
