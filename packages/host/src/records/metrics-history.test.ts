import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nothing, openScratchRuntime } from '@tool-runtime/sdk/testing';
import { keepMetrics, quantile } from './metrics-history.ts';

const FIGURES = { sessions: 1, in_flight: 0, queued: 0, approvals: 0, memory_bytes: 1 };

describe('keepMetrics', () => {
  test('a sample holds what was added since the one before it', async () => {
    const { session, runtime } = await openScratchRuntime({ tools: [nothing] });
    const keeper = keepMetrics({ totals: () => [runtime.metrics.totals()], figures: () => FIGURES, now: () => 1 });
    await session.call('probe_nothing', {});
    await session.call('probe_nothing', {});
    keeper.sample();
    keeper.sample();
    await session.call('no_such_tool', {});
    keeper.sample();
    const { samples, totals } = keeper.history();
    assert.equal(samples[0]?.tools['probe_nothing']?.calls, 2);
    assert.deepEqual(samples[1]?.tools, {});
    assert.deepEqual(Object.keys(samples[2]?.tools ?? {}).length, 1);
    assert.equal(totals['probe_nothing']?.calls, 2);
    keeper.close();
    await runtime.close();
  });

  test('a quantile lies in the step that holds it', () => {
    const steps = new Array<number>(19).fill(0);
    steps[3] = 98;
    steps[12] = 2;
    assert.ok(quantile(steps, 0.5) > 0.5 && quantile(steps, 0.5) <= 1);
    assert.ok(quantile(steps, 0.99) > 500 && quantile(steps, 0.99) <= 1000);
    assert.equal(quantile([], 0.5), 0);
  });
});
