/** Figures over time: a sample every few seconds, for an hour. Each holds what was added since the one before it. */
import type { MetricsHistory, ToolFigures } from '@tool-runtime/protocol';
import type { BudgetState, ForeignServer, Totals } from '@tool-runtime/sdk';

/** Upper bounds of the histogram of durations, in milliseconds, as the runtime counts them. */
const BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 60_000, 600_000];
const STEP_MS = 5000;
const KEPT = 720;

export interface HostFigures {
  readonly sessions: number;
  readonly in_flight: number;
  readonly queued: number;
  readonly approvals: number;
  readonly memory_bytes: number;
}

type Sample = MetricsHistory['samples'][number];

export interface MetricsSource {
  /** One of each workspace. */
  readonly totals: () => readonly Totals[];
  readonly figures: () => HostFigures;
  /** Of open sessions. */
  readonly budgets: () => Iterable<BudgetState>;
  /** Of each workspace. */
  readonly servers: () => readonly ForeignServer[];
  readonly now: () => number;
}

export interface MetricsKeeper {
  sample(): void;
  history(): MetricsHistory;
  close(): void;
}

export function keepMetrics({ totals, figures, budgets, servers, now }: MetricsSource): MetricsKeeper {
  const samples: Sample[] = [];
  let last = merged(totals());

  function sample(): void {
    const current = merged(totals());
    const { sessions, in_flight, queued, approvals, memory_bytes } = figures();
    samples.push({
      ...{ at_ms: now(), sessions, in_flight, queued, approvals, memory_bytes },
      budgets: fullest(budgets()),
      servers: countServers(servers()),
      tools: figuresOf(current, last),
    });
    if (samples.length > KEPT) samples.shift();
    last = current;
  }

  const timer = setInterval(sample, STEP_MS).unref();
  return {
    sample,
    history: () => ({ step_ms: STEP_MS, samples: [...samples], totals: figuresOf(merged(totals()), new Map()) }),
    close: () => clearInterval(timer),
  };
}

function fullest(all: Iterable<BudgetState>): Sample['budgets'] {
  const shares: Record<string, number> = {};
  for (const budget of all) {
    for (const [limit, { used, given }] of Object.entries(budget)) {
      const share = given === 0 ? 1 : used / given;
      shares[limit] = Math.max(shares[limit] ?? 0, Number(share.toFixed(4)));
    }
  }
  return shares;
}

function countServers(servers: readonly ForeignServer[]): Sample['servers'] {
  return {
    mounted: servers.length,
    running: servers.filter(({ isRunning }) => isRunning).length,
    waiting: servers.reduce(
      (sum, server) => sum + server.tools().filter(({ pending }) => pending !== undefined).length,
      0,
    ),
  };
}

interface Sum {
  readonly calls: number;
  readonly errors: number;
  readonly denials: number;
  readonly bytes: number;
  readonly lockMs: number;
  readonly askMs: number;
  readonly steps: readonly number[];
}

type Sums = ReadonlyMap<string, Sum>;
const ZERO: Sum = { calls: 0, errors: 0, denials: 0, bytes: 0, lockMs: 0, askMs: 0, steps: [] };

function merged(all: readonly Totals[]): Sums {
  const sums = new Map<string, Sum>();
  for (const [tool, one] of all.flatMap((totals) => Object.entries(totals))) {
    const known = sums.get(tool) ?? ZERO;
    sums.set(tool, {
      calls: known.calls + one.calls,
      errors: known.errors + one.errors,
      denials: known.denials + one.denials,
      bytes: known.bytes + one.bytes,
      lockMs: known.lockMs + one.lockWaitMs,
      askMs: known.askMs + one.approvalWaitMs,
      steps: one.durations.map((count, at) => count + (known.steps[at] ?? 0)),
    });
  }
  return sums;
}

function figuresOf(current: Sums, before: Sums): Record<string, ToolFigures> {
  const figures: Record<string, ToolFigures> = {};
  for (const [tool, sum] of current) {
    // A runtime that was opened anew counts from nothing.
    const known = before.get(tool);
    const old = known !== undefined && known.calls <= sum.calls ? known : ZERO;
    if (sum.calls === old.calls) continue;
    const steps = sum.steps.map((count, at) => count - (old.steps[at] ?? 0));
    figures[tool] = {
      calls: sum.calls - old.calls,
      errors: sum.errors - old.errors,
      denials: sum.denials - old.denials,
      bytes: sum.bytes - old.bytes,
      p50: quantile(steps, 0.5),
      p95: quantile(steps, 0.95),
      p99: quantile(steps, 0.99),
      lock_wait_ms: sum.lockMs - old.lockMs,
      approval_wait_ms: sum.askMs - old.askMs,
    };
  }
  return figures;
}

/** By the step that holds it, evenly spread inside; exact to the width of that step. */
export function quantile(steps: readonly number[], share: number): number {
  const total = steps.reduce((sum, count) => sum + count, 0);
  let left = total * share;
  for (const [at, count] of steps.entries()) {
    if (left > count) {
      left -= count;
      continue;
    }
    const low = BOUNDS[at - 1] ?? 0;
    const high = BOUNDS[at] ?? low;
    return count === 0 ? low : low + (high - low) * (left / count);
  }
  return 0;
}
