import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';

test('S0-79 metrics count calls, errors, time, bytes and files per tool and session', () => {
  const metrics = createMetrics();
  const measure = { tool: 'a_tool', ok: true, durationMs: 2, bytes: 10, filesTouched: 1 };
  metrics.count({ ...measure, sessionId: 'a' });
  metrics.count({ ...measure, sessionId: 'b', ok: false, errorCode: 'E_POLICY', durationMs: 4 });
  assert.deepEqual(metrics.totals('a')['a_tool'], {
    calls: 1,
    errors: 0,
    durationMs: 2,
    maxDurationMs: 2,
    bytes: 10,
    filesTouched: 1,
    errorCodes: {},
  });
  assert.deepEqual(metrics.totals()['a_tool'], {
    calls: 2,
    errors: 1,
    durationMs: 6,
    maxDurationMs: 4,
    bytes: 20,
    filesTouched: 2,
    errorCodes: { E_POLICY: 1 },
  });
  metrics.forget('a');
  assert.deepEqual(metrics.totals('a'), {});
});

test('S0-79 totals are a copy', () => {
  const metrics = createMetrics();
  const before = metrics.totals();
  metrics.count({ sessionId: 'a', tool: 't', ok: true, durationMs: 1, bytes: 0, filesTouched: 0 });
  assert.deepEqual(before, {});
});
