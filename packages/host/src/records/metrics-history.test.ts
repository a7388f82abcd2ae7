import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nothing, openScratchRuntime } from '@tool-runtime/sdk/testing';
import { keepMetrics, quantile } from './metrics-history.ts';

const FIGURES = { sessions: 1, in_flight: 0, queued: 0, approvals: 0, memory_bytes: 1 };

describe('keepMetrics', () => {
  test('a sample holds what was added since the one before it', async () => {
    const { session, runtime } = await openScratchRuntime({ tools: [nothing] });
    const keeper = keepMetrics({
      totals: () => [runtime.metrics.totals()],
      figures: () => FIGURES,
      budgets: () => [],
      servers: () => [],
      now: () => 1,
    });
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

  test('of each limit a sample holds the share of the session that is nearest to it', () => {
    const keeper = keepMetrics({
      totals: () => [],
      figures: () => FIGURES,
      budgets: () => [
        { max_calls: { used: 1, given: 10 }, max_bytes: { used: 5, given: 5 } },
        { max_calls: { used: 6, given: 8 } },
        { max_duration_ms: { used: 0, given: 0 } },
        {},
      ],
      servers: () => [],
      now: () => 1,
    });
    keeper.sample();
    assert.deepEqual(keeper.history().samples[0]?.budgets, { max_calls: 0.75, max_bytes: 1, max_duration_ms: 1 });
    keeper.close();
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
