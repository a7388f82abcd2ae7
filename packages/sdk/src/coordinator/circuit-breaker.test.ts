import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBreakers, createCircuitBreaker } from './circuit-breaker.ts';

function timed() {
  const time = { now: 0 };
  return { time, breaker: createCircuitBreaker({ now: () => 0, monotonic: () => time.now }) };
}

test('lets everything pass until something fails, and again after a success [S0-75]', () => {
  const { breaker, time } = timed();
  assert.deepEqual([breaker.mayTry(), breaker.mayTry()], [true, true]);
  breaker.failed();
  assert.equal(breaker.mayTry(), false);
  time.now = 1_000;
  assert.equal(breaker.mayTry(), true);
  breaker.succeeded();
  assert.deepEqual([breaker.mayTry(), breaker.mayTry()], [true, true]);
});

test('pauses twice as long after each further failure, up to half a minute [S0-75]', () => {
  const { breaker, time } = timed();
  const pauses: number[] = [];
  for (let failures = 0; failures < 8; failures++) {
    breaker.failed();
    const from = time.now;
    while (!breaker.mayTry()) time.now += 500;
    pauses.push(time.now - from);
  }
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test('after a pause one tries while the others pass by; an attempt that told nothing leaves room for the next [S0-75]', () => {
  const { breaker, time } = timed();
  breaker.failed();
  time.now = 1_000;
  assert.deepEqual([breaker.mayTry(), breaker.mayTry()], [true, false]);
  breaker.abandoned();
  assert.deepEqual([breaker.mayTry(), breaker.mayTry()], [true, false]);
});

test('calls that fail together count as one failure [S0-75]', () => {
  const { breaker, time } = timed();
  for (let call = 0; call < 50; call++) breaker.failed();
  time.now = 1_000;
  assert.equal(breaker.mayTry(), true);
});

test('each question has a breaker of its own [S0-75]', () => {
  const { plan, budget, policy } = createBreakers({ now: () => 0, monotonic: () => 0 });
  budget.failed();
  assert.deepEqual([plan.mayTry(), budget.mayTry(), policy.mayTry()], [true, false, true]);
});
