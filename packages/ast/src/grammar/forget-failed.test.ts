import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forgetFailed } from './forget-failed.ts';

function createLazy(make: () => Promise<string>): () => Promise<string> {
  let making: Promise<string> | undefined;
  return () => {
    making ??= forgetFailed(make(), () => {
      making = undefined;
    });
    return making;
  };
}

describe('what is made once', () => {
  test('is made again after a failure, and only then', async () => {
    let attempts = 0;
    const get = createLazy(async () => {
      attempts += 1;
      if (attempts === 1) throw new TypeError('no descriptor left');
      return `made at attempt ${attempts}`;
    });
    await assert.rejects(get(), /no descriptor left/);
    assert.equal(await get(), 'made at attempt 2');
    assert.equal(await get(), 'made at attempt 2');
    assert.equal(attempts, 2);
  });

  test('is made once for all who ask at the same time, who also share its failure', async () => {
    let attempts = 0;
    const get = createLazy(async () => {
      attempts += 1;
      throw new TypeError('no');
    });
    const settled = await Promise.allSettled([get(), get()]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(attempts, 1);
  });
});
