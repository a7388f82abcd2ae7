import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withInterrupt } from './interrupt.ts';

describe('withInterrupt', () => {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    test(`turns ${name} into an abort and then leaves signals alone`, async () => {
      const before = process.listenerCount(name);
      const answer = await withInterrupt(async (signal) => {
        assert.equal(process.listenerCount(name), before + 1);
        process.kill(process.pid, name);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        assert.equal(process.listenerCount(name), before);
        return 'ended';
      });
      assert.equal(answer, 'ended');
    });
  }

  test('leaves signals alone after work that failed', async () => {
    const before = process.listenerCount('SIGINT');
    await assert.rejects(
      withInterrupt(async () => {
        throw new TypeError('failed');
      }),
      { message: 'failed' },
    );
    assert.equal(process.listenerCount('SIGINT'), before);
  });
});
