import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairSlots } from './fair-slots.ts';

async function take(slots: FairSlots, session: string, order: string[]): Promise<void> {
  await slots.take(session);
  order.push(session);
}

test('a session with one call does not wait behind the hundred of another', async () => {
  const slots = new FairSlots(1);
  const order: string[] = [];
  assert.equal(slots.take('greedy'), undefined);
  const waiting = Array.from({ length: 100 }, () => take(slots, 'greedy', order));
  waiting.push(take(slots, 'modest', order));
  for (let given = 0; given < 101; given++) {
    slots.give();
    await Promise.resolve();
  }
  await Promise.all(waiting);
  assert.equal(order.indexOf('modest'), 1);
  assert.equal(order.length, 101);
});

test('turns go round among all that wait', async () => {
  const slots = new FairSlots(1);
  const order: string[] = [];
  slots.take('first');
  const waiting = ['a', 'a', 'b', 'b', 'c'].map((session) => take(slots, session, order));
  for (let given = 0; given < 5; given++) {
    slots.give();
    await Promise.resolve();
  }
  await Promise.all(waiting);
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b']);
});

test('counts what is taken, and no caller waits while a slot is free', () => {
  const slots = new FairSlots(2);
  assert.equal(slots.take('a'), undefined);
  assert.equal(slots.take('a'), undefined);
  assert.equal(slots.taken, 2);
  assert.ok(slots.take('b') instanceof Promise);
  slots.give();
  assert.equal(slots.taken, 2);
  slots.give();
  slots.give();
  assert.equal(slots.taken, 0);
});

test('a caller that gives up waiting leaves the line, and its turn goes to the next', async () => {
  const slots = new FairSlots(1);
  slots.take('first');
  const leaving = new AbortController();
  const [gone, next] = [slots.take('a', leaving.signal), slots.take('b')];
  leaving.abort();
  assert.equal(await gone, false);
  slots.give();
  assert.equal(await next, true);
  assert.equal(await slots.take('c', AbortSignal.abort()), false);
  slots.give();
  assert.equal(slots.taken, 0);
});

test('a slot that was lent out is taken back at once; the others wait a little longer', () => {
  const slots = new FairSlots(1);
  slots.take('lender');
  slots.give();
  slots.take('borrower');
  slots.takeBack();
  assert.deepEqual([slots.taken, slots.isFree], [2, false]);
  const waiting = slots.take('third');
  slots.give();
  assert.equal(slots.taken, 1);
  slots.give();
  assert.deepEqual([slots.taken, waiting instanceof Promise], [1, true]);
  slots.give();
  assert.equal(slots.taken, 0);
});
