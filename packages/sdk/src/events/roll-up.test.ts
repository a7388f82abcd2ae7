import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMetrics, type Totals } from './metrics.ts';
import { mergeTotals, sumTotals } from './roll-up.ts';

function totalsOf(calls: readonly (readonly [tool: string, code: string | undefined, durationMs: number])[]): Totals {
  const metrics = createMetrics();
  for (const [tool, code, durationMs] of calls) {
    const errors = code === undefined ? [] : [{ code }];
    metrics.count('a', tool, {
      status: code === undefined ? 'completed' : 'failed',
      errors,
      durationMs,
      waitedMs: 0,
      bytes: 3,
      changes: [1],
    });
    metrics.lockWaited('a', tool, 2);
  }
  return metrics.totals();
}

describe('adding totals up', () => {
  const first = [
    ['x', undefined, 1],
    ['y', 'E_GIT', 40],
  ] as const;
  const second = [
    ['y', 'E_GIT', 700_000],
    ['y', 'E_HTTP', 1],
    ['z', undefined, 3],
  ] as const;

  test('runtimes side by side give what one runtime would have counted [S0-79]', () => {
    assert.deepEqual(mergeTotals([totalsOf(first), totalsOf(second)]), totalsOf([...first, ...second]));
    assert.deepEqual(mergeTotals([]), {});
  });

  test('the sum over tools is what one tool would have counted [S0-79]', () => {
    const together = totalsOf([...first, ...second].map(([, code, durationMs]) => ['one', code, durationMs] as const));
    assert.deepEqual(sumTotals(Object.values(totalsOf([...first, ...second]))), together['one']);
    const nothing = sumTotals([]);
    assert.deepEqual([nothing.calls, new Set(nothing.durations)], [0, new Set([0])]);
  });
});
