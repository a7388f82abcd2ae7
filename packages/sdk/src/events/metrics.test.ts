import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type CallFigures, createMetrics, DURATION_BOUNDS_MS, type ToolTotals } from './metrics.ts';

const completed: CallFigures = {
  status: 'completed',
  errors: [],
  durationMs: 2,
  waitedMs: 0,
  bytes: 10,
  changes: ['a file'],
};
const denied: CallFigures = {
  status: 'denied_before_execution',
  errors: [{ code: 'E_POLICY' }, { code: 'E_INTERNAL' }],
  durationMs: 4,
  waitedMs: 30,
  bytes: 0,
  changes: [],
};

function withoutSteps({ durations, ...rest }: ToolTotals) {
  return {
    ...rest,
    steps: durations.flatMap((count, step) => (count === 0 ? [] : [[DURATION_BOUNDS_MS[step], count]])),
  };
}

describe('metrics', () => {
  test('count calls, errors, denials, time, bytes, files and lock waits per tool and session [S0-79]', () => {
    const metrics = createMetrics();
    for (const sessionId of ['a', 'b']) metrics.open(sessionId);
    metrics.count('a', 'a_tool', completed);
    metrics.count('b', 'a_tool', denied);
    metrics.lockWaited('b', 'a_tool', 7);
    const one = { calls: 1, errors: 0, errorCodes: {}, denials: 0, durationMs: 2, maxDurationMs: 2 };
    assert.deepEqual(withoutSteps(metrics.totals('a')['a_tool']!), {
      ...one,
      bytes: 10,
      filesTouched: 1,
      lockWaits: 0,
      lockWaitMs: 0,
      approvalWaits: 0,
      approvalWaitMs: 0,
      steps: [[2.5, 1]],
    });
    assert.deepEqual(withoutSteps(metrics.totals()['a_tool']!), {
      calls: 2,
      errors: 1,
      errorCodes: { E_POLICY: 1 },
      denials: 1,
      durationMs: 6,
      maxDurationMs: 4,
      bytes: 10,
      filesTouched: 1,
      lockWaits: 1,
      lockWaitMs: 7,
      approvalWaits: 1,
      approvalWaitMs: 30,
      steps: [
        [2.5, 1],
        [5, 1],
      ],
    });
  });

  test('a completed call whose result was withheld is an error and no denial [S0-79]', () => {
    const metrics = createMetrics();
    metrics.count('a', 't', { ...completed, errors: [{ code: 'E_POLICY' }] });
    const { errors, denials, errorCodes } = metrics.totals()['t']!;
    assert.deepEqual({ errors, denials, errorCodes }, { errors: 1, denials: 0, errorCodes: { E_POLICY: 1 } });
  });

  test('totals are a copy [S0-79]', () => {
    const metrics = createMetrics();
    metrics.count('a', 't', completed);
    const before = metrics.totals();
    metrics.count('a', 't', denied);
    assert.deepEqual([before['t']?.calls, before['t']?.errorCodes, before['t']?.durations[5]], [1, {}, 0]);
  });

  test('a forgotten session has no figures, and a call that ends afterwards brings none back [S0-79]', () => {
    const metrics = createMetrics();
    metrics.open('a');
    metrics.count('a', 't', completed);
    metrics.forget('a');
    metrics.count('a', 't', completed);
    assert.deepEqual(metrics.totals('a'), {});
    assert.equal(metrics.totals()['t']?.calls, 2);
  });

  test('every duration falls into the first step whose bound it does not exceed [S0-79]', () => {
    const near = fc
      .constantFrom(...DURATION_BOUNDS_MS)
      .chain((bound) => fc.constantFrom(bound, bound * 0.999, bound * 1.001));
    fc.assert(
      fc.property(fc.oneof(near, fc.double({ min: 0, max: 1e7, noNaN: true })), (durationMs) => {
        const metrics = createMetrics();
        metrics.count('a', 't', { ...completed, durationMs });
        const step = metrics.totals()['t']!.durations.indexOf(1);
        assert.ok(durationMs <= (DURATION_BOUNDS_MS[step] ?? Number.POSITIVE_INFINITY));
        assert.ok(step === 0 || durationMs > DURATION_BOUNDS_MS[step - 1]!);
      }),
    );
  });
});
