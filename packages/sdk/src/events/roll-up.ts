/** The totals of a session in the form that goes over the wire: per tool and together. */
import type { MetricsRollup, ToolRollup } from '../contracts/telemetry.ts';
import type { EventBus } from './event-bus.ts';
import { DURATION_BOUNDS_MS, type Metrics, type ToolTotals, type Totals } from './metrics.ts';

export function rollUp(totals: Totals): MetricsRollup {
  return {
    tools: Object.fromEntries(Object.entries(totals).map(([tool, figures]) => [tool, toRollup(figures)])),
    total: toRollup(sumTotals(Object.values(totals))),
    duration_bounds_ms: DURATION_BOUNDS_MS,
  };
}

function toRollup(totals: ToolTotals): ToolRollup {
  return {
    calls: totals.calls,
    errors: totals.errors,
    error_codes: totals.errorCodes,
    denials: totals.denials,
    duration_ms: totals.durationMs,
    max_duration_ms: totals.maxDurationMs,
    durations: totals.durations,
    files_touched: totals.filesTouched,
    bytes: totals.bytes,
    lock_waits: totals.lockWaits,
    lock_wait_ms: totals.lockWaitMs,
    approval_waits: totals.approvalWaits,
    approval_wait_ms: totals.approvalWaitMs,
  };
}

const NOTHING: ToolTotals = {
  calls: 0,
  errors: 0,
  errorCodes: {},
  denials: 0,
  durationMs: 0,
  maxDurationMs: 0,
  durations: new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0),
  bytes: 0,
  filesTouched: 0,
  lockWaits: 0,
  lockWaitMs: 0,
  approvalWaits: 0,
  approvalWaitMs: 0,
};

/** Adds figures up: over the tools of a session, or over the runtimes of a host. */
export function sumTotals(all: Iterable<ToolTotals>): ToolTotals {
  let sum = NOTHING;
  for (const totals of all) sum = add(sum, totals);
  return sum;
}

/** The same tools side by side: figures of one name are added. */
export function mergeTotals(groups: readonly Totals[]): Totals {
  const merged = new Map<string, ToolTotals>();
  for (const group of groups) {
    for (const [tool, totals] of Object.entries(group)) merged.set(tool, add(merged.get(tool) ?? NOTHING, totals));
  }
  return Object.fromEntries(merged);
}

function add(left: ToolTotals, right: ToolTotals): ToolTotals {
  return {
    calls: left.calls + right.calls,
    errors: left.errors + right.errors,
    errorCodes: addCounts(left.errorCodes, right.errorCodes),
    denials: left.denials + right.denials,
    durationMs: left.durationMs + right.durationMs,
    maxDurationMs: Math.max(left.maxDurationMs, right.maxDurationMs),
    durations: left.durations.map((count, step) => count + (right.durations[step] ?? 0)),
    bytes: left.bytes + right.bytes,
    filesTouched: left.filesTouched + right.filesTouched,
    lockWaits: left.lockWaits + right.lockWaits,
    lockWaitMs: left.lockWaitMs + right.lockWaitMs,
    approvalWaits: left.approvalWaits + right.approvalWaits,
    approvalWaitMs: left.approvalWaitMs + right.approvalWaitMs,
  };
}

function addCounts(left: Readonly<Record<string, number>>, right: Readonly<Record<string, number>>) {
  const sum: Record<string, number> = { ...left };
  for (const [code, count] of Object.entries(right)) sum[code] = (sum[code] ?? 0) + count;
  return sum;
}

export interface MetricsReporter {
  /** Announces now; an interval above 0 repeats it, in place of an earlier one, and 0 stops. */
  report(request: { readonly requestId: string; readonly intervalMs: number }): MetricsRollup;
  close(): void;
}

interface MetricsReporterOptions {
  readonly sessionId: string;
  readonly events: EventBus;
  readonly metrics: Metrics;
}

/**
 * Announces the figures of one session as `Metrics` events, on request and at an interval.
 *
 * The timer keeps no process alive and dies with the session. What it announces belongs to no call any more, so the
 * session's id is where the request's would be: no event comes after the answer of its request.
 */
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
