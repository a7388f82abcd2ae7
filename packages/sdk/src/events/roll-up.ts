/** The totals of a session in the form that goes over the wire: per tool and together. */
import type { MetricsRollup, ToolRollup } from '../contracts/metrics.ts';
import { DURATION_BOUNDS_MS, type ToolTotals, type Totals } from './metrics.ts';

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
