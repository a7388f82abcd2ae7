import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MessageQueue } from './message-queue.ts';

async function readAll(queue: MessageQueue<number>): Promise<number[]> {
  const read: number[] = [];
  for await (const item of queue) read.push(item);
  return read;
}

describe('the message queue', () => {
  test('delivers what was pushed before and after the reader came, in order', async () => {
    const queue = new MessageQueue<number>();
    queue.push(1);
    const reading = readAll(queue);
    queue.push(2);
    await new Promise((resolve) => setImmediate(resolve));
    queue.push(3);
    queue.push(4);
    queue.end();
    queue.push(5);
    assert.deepEqual(await reading, [1, 2, 3, 4]);
    assert.equal(queue.isEnded, true);
  });

  test('throws the error of the end once, after the last item, and only the first end counts', async () => {
    const queue = new MessageQueue<number>();
    queue.push(1);
    queue.end(new TypeError('first'));
    queue.end(new TypeError('second'));
    assert.deepEqual(await queue.next(), { done: false, value: 1 });
    await assert.rejects(queue.next(), /first/);
    assert.deepEqual(await queue.next(), { done: true, value: undefined });
    const waiting = new MessageQueue<number>();
    const next = waiting.next();
    waiting.end(new TypeError('late'));
    await assert.rejects(next, /late/);
  });
});
