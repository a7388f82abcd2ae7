import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { LockOwner } from '../contracts/locks.ts';
import { createPathLocks } from './path-locks.ts';

const owner = (callId: string): LockOwner => ({ callId, tool: 'a_tool', sessionId: 's' });
const never = new AbortController().signal;

function request(callId: string, keys: readonly string[], waitMs = 5_000, signal = never) {
  return { keys, owner: owner(callId), waitMs, signal };
}

describe('path locks [S0-76]', () => {
  test('are taken without waiting when they are free [S0-76]', () => {
    const locks = createPathLocks();
    const release = locks.acquire(request('a', ['x', 'y', 'x']));
    assert.equal(typeof release, 'function');
    assert.deepEqual(
      locks.held().map(({ key }) => key),
      ['x', 'y'],
    );
    (release as () => void)();
    assert.deepEqual(locks.held(), []);
  });

  test('serialise two writers of one file in the order they came [S0-76]', async () => {
    const locks = createPathLocks();
    const order: string[] = [];
    const work = async (id: string): Promise<void> => {
      const release = await locks.acquire(request(id, ['x']));
      order.push(`${id} in`);
      await pause(5);
      order.push(`${id} out`);
      release();
    };
    await Promise.all([work('a'), work('b'), work('c')]);
    assert.deepEqual(order, ['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });

  test('never deadlock when two calls need one pair in opposite orders [S0-76]', async () => {
    const locks = createPathLocks();
    const work = async (id: string, keys: string[]): Promise<void> => {
      for (let round = 0; round < 50; round++) {
        const release = await locks.acquire(request(id, keys));
        await pause(0);
        release();
      }
    };
    await Promise.all([work('a', ['x', 'y']), work('b', ['y', 'x'])]);
    assert.deepEqual(locks.held(), []);
  });

  test('name the owner when the wait is over, and leave the queue', async () => {
    const locks = createPathLocks();
    const release = await locks.acquire(request('a', ['x']));
    await assert.rejects(async () => locks.acquire(request('b', ['w', 'x'], 10)), {
      code: 'E_TIMEOUT',
      message: /a_tool \(a\)/,
    });
    assert.deepEqual(
      locks.held().map(({ key, owner: who }) => [key, who.callId]),
      [['x', 'a']],
    );
    release();
    const next = await locks.acquire(request('c', ['x'], 10));
    next();
  });

  test('a cancelled waiter never gets the lock', async () => {
    const locks = createPathLocks();
    const release = await locks.acquire(request('a', ['x']));
    const cancel = new AbortController();
    const waiting = Promise.resolve(locks.acquire(request('b', ['x'], 5_000, cancel.signal)));
    cancel.abort();
    await assert.rejects(waiting, { code: 'E_INTERNAL' });
    release();
    assert.deepEqual(locks.held(), []);
  });

  test('releasing twice does not free the next holder', async () => {
    const locks = createPathLocks();
    const first = await locks.acquire(request('a', ['x']));
    const waiting = locks.acquire(request('b', ['x']));
    first();
    first();
    await waiting;
    assert.deepEqual(
      locks.held().map(({ owner: who }) => who.callId),
      ['b'],
    );
  });
});
