import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeGrowth } from './judge-growth.ts';
import { createRandom } from './seeded-random.ts';

/** `costOf` says in milliseconds what an input of some length takes. */
function judge(costOf: (length: number) => number) {
  let now = 0;
  return judgeGrowth({
    input: Buffer.from('abc'),
    random: createRandom(1),
    maxBytes: 20_000,
    measure: (input) => {
      now += costOf(input.length);
    },
    clock: () => now,
  });
}

test('work that grows with the square of its input is noticed, and named with an input', () => {
  const growth = judge((length) => length ** 2 / 1_000_000);
  assert.equal(growth?.input.length, 20_000);
  assert.ok(growth.longMs > growth.shortMs);
});

test('work that grows with its input, or is over soon, is not', () => {
  assert.equal(
    judge((length) => length / 10),
    undefined,
  );
  assert.equal(
    judge((length) => length ** 2 / 10_000_000),
    undefined,
  );
});
