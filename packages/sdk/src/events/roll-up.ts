/** The totals of a session in the form that goes over the wire: per tool and together. */
import type { MetricsRollup, ToolRollup } from '../contracts/metrics.ts';
import { DURATION_BOUNDS_MS, type ToolTotals, type Totals } from './metrics.ts';
import { sumTotals } from './sum-totals.ts';

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
