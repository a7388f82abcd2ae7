import assert from 'node:assert/strict';
import { test } from 'node:test';
import { once } from './once.ts';

test('the value is made once, also for calls that come while it is being made', async () => {
  let made = 0;
  const value = once(async () => ++made);
  assert.deepEqual(await Promise.all([value(), value()]), [1, 1]);
  assert.equal(await value(), 1);
});

test('a failure reaches everyone who waited, and the next call tries again', async () => {
  let tries = 0;
  const value = once(async () => {
    tries += 1;
    if (tries === 1) throw new TypeError('not yet');
    return tries;
  });
  const [first, second] = await Promise.allSettled([value(), value()]);
  assert.deepEqual([first.status, second.status, tries], ['rejected', 'rejected', 1]);
  assert.equal(await value(), 2);
});

test('ifMade returns what was made, and makes nothing', async () => {
  let attempts = 0;
  const get = once(async () => {
    attempts += 1;
    if (attempts === 1) throw new TypeError('no descriptor left');
    return attempts;
  });
  assert.equal(get.ifMade(), undefined);
  assert.equal(attempts, 0);
  await assert.rejects(get());
  assert.equal(get.ifMade(), undefined);
  const made = get();
  assert.equal(get.ifMade(), made);
  assert.equal(await get.ifMade(), 2);
});
