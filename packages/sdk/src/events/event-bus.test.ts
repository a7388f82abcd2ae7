import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventMessage } from '@tool-runtime/protocol';
import { createEventBus } from './event-bus.ts';

function progress(message: string): EventMessage {
  return { type: 'EventMessage', event: 'TaskProgress', request_id: 'r', progress: { pct: 1, message } };
}

test('a listener gets the events of its session in order', async () => {
  const bus = createEventBus();
  const mine = bus.subscribe({ sessionId: 'a' });
  bus.emit('a', progress('1'));
  bus.emit('b', progress('other'));
  bus.emit('a', progress('2'));
  bus.close();
  const seen: string[] = [];
  for await (const event of mine) seen.push(event.message.progress.message);
  assert.deepEqual(seen, ['1', '2']);
});

test('a slow listener loses the oldest events and is told how many', async () => {
  const bus = createEventBus({ capacity: 3 });
  const slow = bus.subscribe();
  for (let n = 1; n <= 5; n++) bus.emit('a', progress(String(n)));
  const first = await slow.next();
  assert.equal(first.value.message.event, 'EventsMissed');
  assert.deepEqual(first.value.message.data, { missed: 2 });
  assert.equal((await slow.next()).value.message.progress.message, '3');
});

test('leaving the loop unsubscribes, so that the bus is idle again', async () => {
  const bus = createEventBus();
  assert.equal(bus.active, false);
  const events = bus.subscribe();
  assert.equal(bus.active, true);
  bus.emit('a', progress('1'));
  for await (const _event of events) break;
  assert.equal(bus.active, false);
});

test('a waiting listener is woken by the next event and by the end', async () => {
  const bus = createEventBus();
  const events = bus.subscribe();
  const waiting = events.next();
  bus.emit('a', progress('late'));
  assert.equal((await waiting).value.message.progress.message, 'late');
  const end = events.next();
  bus.close();
  assert.equal((await end).done, true);
});

test('a direct listener hears events at once until it stops', () => {
  const bus = createEventBus();
  const heard: string[] = [];
  const stop = bus.listen('a', (event) => heard.push(event.message.progress.message));
  bus.emit('a', progress('1'));
  stop();
  bus.emit('a', progress('2'));
  assert.deepEqual(heard, ['1']);
});
