import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Budget, formatBudgets, judgeBudget } from './budget.ts';

function verdict(budget: Partial<Budget>): string {
  return judgeBudget({ name: 'a', unit: 'x', measured: 0, ...budget }).verdict;
}

describe('judgeBudget', () => {
  test('meets an upper limit at it and below, and misses it above', () => {
    assert.deepEqual(
      [9, 10, 10.1].map((measured) => verdict({ atMost: 10, measured })),
      ['met', 'met', 'missed'],
    );
  });

  test('meets a lower limit at it and above, and misses it below', () => {
    assert.deepEqual(
      [3, 2, 1.9].map((measured) => verdict({ atLeast: 2, measured })),
      ['met', 'met', 'missed'],
    );
  });

  test('misses with no figure at all', () => {
    assert.equal(verdict({ atMost: 10, measured: Number.NaN }), 'missed');
  });

  test('cannot tell when the limit lies inside the middle half of the rounds', () => {
    const rounds = [1, 8, 9, 11, 12, 30];
    assert.equal(verdict({ atMost: 10, measured: 10, rounds }), 'inside noise');
    assert.equal(verdict({ atLeast: 10, measured: 10, rounds }), 'inside noise');
    assert.equal(verdict({ atMost: 13, measured: 10, rounds }), 'met', 'one round beyond it is no reason');
    assert.equal(verdict({ atMost: 7, measured: 10, rounds }), 'missed', 'nor is one below it');
    assert.equal(verdict({ atMost: 10, measured: 11, rounds: [9, 11, 12] }), 'missed', 'three rounds have no spread');
  });
});

describe('formatBudgets', () => {
  test('says wanted, measured, the spread and the verdict in one line', () => {
    const text = formatBudgets([
      judgeBudget({ name: 'verify', atLeast: 200_000, unit: 'records/s', measured: 150_000 }),
      judgeBudget({ name: 'read', atLeast: 2, unit: 'x', measured: 3, rounds: [3, 3, 3, 3, 3.5] }),
    ]);
    assert.match(text, /verify +>= 200,000 records\/s +150,000 records\/s +missed$/m);
    assert.match(text, /read +>= 2 x +3 x +3 to 3 +met$/m);
  });
});
