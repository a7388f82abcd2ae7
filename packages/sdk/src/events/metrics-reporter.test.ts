import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventMessage } from '@tool-runtime/protocol';
import { createEventBus } from './event-bus.ts';
import { createMetrics } from './metrics.ts';
import { createMetricsReporter } from './metrics-reporter.ts';

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
