import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EventMessage, eventMessageSchema } from '../envelopes/from-host/event-message.ts';
import { EventListener } from './event-listeners.ts';

const event = (id: number): EventMessage => ({
  type: 'EventMessage',
  event: 'TaskProgress',
  request_id: 'r',
  session_id: 's',
  id,
  progress: { pct: 0, message: '' },
});

function listen(options: { after?: number; capacity?: number } = {}) {
  const { after, capacity = 10 } = options;
  let left = 0;
  const listener = new EventListener({
    after,
    capacity,
    onLeave: () => {
      left += 1;
    },
  });
  return { listener, hasLeft: () => left === 1 };
}

async function idsOf(listener: EventListener): Promise<(number | undefined)[]> {
  const ids: (number | undefined)[] = [];
  for await (const { id } of listener) ids.push(id);
  return ids;
}

describe('a listener for events', () => {
  test('takes nothing before it is active, nor what it has seen or does not want', async () => {
    const { listener, hasLeft } = listen({ after: 3 });
    listener.push(event(9));
    listener.activate();
    for (const id of [3, 4, 5, 4, 5, 6]) listener.push(event(id));
    listener.end();
    assert.deepEqual(await idsOf(listener), [4, 5, 6]);
    assert.equal(hasLeft(), true);
  });

  test('begins anew with another session', async () => {
    const { listener } = listen();
    listener.activate();
    listener.push(event(100));
    listener.restart();
    listener.push(event(1));
    listener.end();
    assert.deepEqual(await idsOf(listener), [100, 1]);
  });

  test('loses the oldest when it is slow, and says how many in a valid message', async () => {
    const { listener } = listen({ capacity: 2 });
    listener.activate();
    for (const id of [1, 2, 3, 4, 5]) listener.push(event(id));
    const { value: marker } = await listener.next();
    const parsed = eventMessageSchema.parse(marker);
    assert.deepEqual(
      [parsed.event, parsed.data, parsed.id, parsed.session_id],
      ['EventsMissed', { missed: 3 }, 3, 's'],
    );
    listener.end();
    assert.deepEqual(await idsOf(listener), [4, 5]);
  });

  test('throws what ended it once the rest is read; leaving the loop ends it in silence', async () => {
    const { listener } = listen();
    listener.activate();
    listener.push(event(1));
    listener.end(new TypeError('gone'));
    assert.equal((await listener.next()).value.id, 1);
    await assert.rejects(listener.next(), /gone/);
    const { listener: other, hasLeft } = listen();
    other.activate();
    other.push(event(1));
    for await (const _event of other) break;
    assert.equal(hasLeft(), true);
    assert.equal((await other.next()).done, true);
  });

  test('wakes a reader that waits', async () => {
    const { listener } = listen();
    listener.activate();
    const next = listener.next();
    listener.push(event(1));
    assert.equal((await next).value.id, 1);
  });
});
