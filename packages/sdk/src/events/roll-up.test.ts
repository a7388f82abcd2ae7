import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventMessage } from '@tool-runtime/protocol';
import { createEventBus } from './event-bus.ts';
import { createMetrics, type Totals } from './metrics.ts';
import { createMetricsReporter, mergeTotals, sumTotals } from './roll-up.ts';

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

function scene() {
  const events = createEventBus();
  const metrics = createMetrics();
  metrics.open('s');
  metrics.count('s', 't', { status: 'completed', errors: [], durationMs: 1, waitedMs: 0, bytes: 0, changes: [] });
  return { events, reporter: createMetricsReporter({ sessionId: 's', events, metrics }) };
}

/** Resolves with the events once `count` of them have come. The timer keeps the process alive: the reporter's does not. */
function nextEvents(events: ReturnType<typeof createEventBus>, count: number): Promise<EventMessage[]> {
  return new Promise((resolve) => {
    const seen: EventMessage[] = [];
    const alive = setInterval(() => {}, 1000);
    const stop = events.listen('s', ({ message }) => {
      if (seen.push(message) < count) return;
      clearInterval(alive);
      stop();
      resolve(seen);
    });
  });
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 30));

describe('the reporter of a session', () => {
  test('announces now for the request, then at the interval for the session [S0-58]', async () => {
    const { events, reporter } = scene();
    const seen = nextEvents(events, 3);
    assert.equal(reporter.report({ requestId: 'r1', intervalMs: 2 }).total.calls, 1);
    const [first, ...later] = await seen;
    reporter.close();
    assert.deepEqual([first?.event, first?.request_id], ['Metrics', 'r1']);
    assert.deepEqual(
      later.map((message) => message.request_id),
      ['s', 's'],
    );
  });

  test('interval 0 stops an earlier one [S0-58]', async () => {
    const { events, reporter } = scene();
    const seen: string[] = [];
    reporter.report({ requestId: 'r1', intervalMs: 2 });
    reporter.report({ requestId: 'r2', intervalMs: 0 });
    events.listen('s', ({ message }) => seen.push(message.request_id));
    await settle();
    assert.deepEqual(seen, []);
    reporter.report({ requestId: 'r3', intervalMs: 0 });
    assert.deepEqual(seen, ['r3']);
  });

  test('nothing is announced after the close [S0-58]', async () => {
    const { events, reporter } = scene();
    const seen: string[] = [];
    reporter.report({ requestId: 'r1', intervalMs: 2 });
    reporter.close();
    events.listen('s', ({ message }) => seen.push(message.request_id));
    reporter.report({ requestId: 'r2', intervalMs: 2 });
    await settle();
    assert.deepEqual(seen, ['r2']);
  });
});
