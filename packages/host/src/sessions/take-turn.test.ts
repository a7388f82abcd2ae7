import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairSlots } from '@tool-runtime/sdk';
import { type Turn, takeTurn } from './take-turn.ts';

const never = () => new AbortController().signal;

function turn(more: Partial<Turn>): Turn {
  return {
    sessionId: 's',
    slots: undefined,
    window: undefined,
    questions: undefined,
    room: undefined,
    ...more,
  };
}

test('a call goes at once where there is nothing to wait for, and gives back what it took', () => {
  const [slots, window] = [new FairSlots(1), new FairSlots(1)];
  const release = takeTurn(turn({ slots, window, room: () => undefined }), never);
  assert.ok(typeof release === 'function');
  assert.deepEqual([slots.taken, window.taken], [1, 1]);
  release();
  assert.deepEqual([slots.taken, window.taken], [0, 0]);
  assert.ok(typeof takeTurn(turn({}), never) === 'function');
});

test('a call that waits for its session or for the client holds no slot of the host', async () => {
  const [slots, window] = [new FairSlots(1), new FairSlots(1)];
  const read = Promise.withResolvers<void>();
  let isFull = true;
  const first = takeTurn(turn({ slots, window, room: () => (isFull ? read.promise : undefined) }), never);
  const second = takeTurn(turn({ slots, window }), never);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([slots.taken, window.taken], [0, 1]);
  isFull = false;
  read.resolve();
  const release = await first;
  assert.equal(slots.taken, 1);
  release();
  (await second)();
  assert.deepEqual([slots.taken, window.taken], [0, 0]);
});

test('a call that is cancelled while it waits, for whatever it waits, takes nothing', async () => {
  for (const full of ['window', 'slots', 'room'] as const) {
    const [slots, window] = [new FairSlots(1), new FairSlots(1)];
    if (full === 'window') window.take('other');
    if (full === 'slots') slots.take('other');
    const before = [slots.taken, window.taken];
    const cancelled = new AbortController();
    const room = full === 'room' ? () => new Promise<void>(() => {}) : undefined;
    const waiting = takeTurn(turn({ slots, window, room }), () => cancelled.signal);
    await new Promise((resolve) => setImmediate(resolve));
    cancelled.abort();
    (await waiting)();
    assert.deepEqual([slots.taken, window.taken], before, full);
  }
});
