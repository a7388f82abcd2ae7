/**
 * Announces the figures of one session as `Metrics` events, on request and at an interval.
 *
 * The timer keeps no process alive and dies with the session. What it announces belongs to no call any more, so the
 * session's id stands where the request's would: no event comes after the answer of its request.
 */
import type { MetricsRollup } from '../contracts/metrics.ts';
import type { EventBus } from './event-bus.ts';
import type { Metrics } from './metrics.ts';
import { rollUp } from './roll-up.ts';

export interface MetricsReporter {
  /** Announces now; an interval above 0 repeats it, in place of an earlier one, and 0 stops. */
  report(request: { readonly requestId: string; readonly intervalMs: number }): MetricsRollup;
  close(): void;
}

export interface MetricsReporterOptions {
  readonly sessionId: string;
  readonly events: EventBus;
  readonly metrics: Metrics;
}

export function createMetricsReporter({ sessionId, events, metrics }: MetricsReporterOptions): MetricsReporter {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function announce(requestId: string, rollup: MetricsRollup, intervalMs: number): void {
    if (!events.hears(sessionId, 'progress')) return;
    const { calls, errors } = rollup.total;
    events.emit(sessionId, {
      type: 'EventMessage',
      event: 'Metrics',
      request_id: requestId,
      progress: { pct: 0, message: `${calls} calls, ${errors} errors` },
      data: { interval: intervalMs / 1000, rollup },
    });
  }

  function repeat(intervalMs: number): void {
    if (!events.hears(sessionId, 'progress')) return;
    announce(sessionId, rollUp(metrics.totals(sessionId)), intervalMs);
  }

  return {
    report({ requestId, intervalMs }) {
      const rollup = rollUp(metrics.totals(sessionId));
      announce(requestId, rollup, intervalMs);
      clearInterval(timer);
      timer = undefined;
      if (intervalMs > 0 && !isClosed) timer = setInterval(repeat, intervalMs, intervalMs).unref();
      return rollup;
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
