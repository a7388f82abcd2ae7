/**
 * Running totals per tool and session: counted on the call path, read on request.
 *
 * Counting allocates nothing once a tool was seen. Sessions have figures from `open` to `forget`; a call that ends later
 * is still in the totals of the runtime, so nothing is left behind for a session that is gone.
 */
import type { TerminalStatus } from '../contracts/classes.ts';

/** Upper bounds of the duration histogram, in milliseconds; what takes longer has a step of its own. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 60_000, 600_000,
];

/** What is counted of a call: the part of its outcome that carries figures. */
export interface CallFigures {
  readonly status: TerminalStatus;
  readonly errors: readonly { readonly code: string }[];
  readonly durationMs: number;
  readonly waitedMs: number;
  readonly bytes: number;
  readonly changes: readonly unknown[];
}

export interface ToolTotals {
  readonly calls: number;
  /** Calls that did not succeed, denied ones included. */
  readonly errors: number;
  /** By the first error code of the call. */
  readonly errorCodes: Readonly<Record<string, number>>;
  /** Calls a gate refused before anything ran. */
  readonly denials: number;
  readonly durationMs: number;
  readonly maxDurationMs: number;
  /** Calls for each of `DURATION_BOUNDS_MS` and, last, those that took longer. Not cumulative. */
  readonly durations: readonly number[];
  readonly bytes: number;
  readonly filesTouched: number;
  /** How often a lock was not free at once, and how long that took together. */
  readonly lockWaits: number;
  readonly lockWaitMs: number;
  /** Calls that waited for a person, and how long together; not part of the durations. */
  readonly approvalWaits: number;
  readonly approvalWaitMs: number;
}

export type Totals = Readonly<Record<string, ToolTotals>>;

export interface Metrics {
  /** Keeps figures of the session until `forget`. */
  open(sessionId: string): void;
  count(sessionId: string, tool: string, call: CallFigures): void;
  lockWaited(sessionId: string, tool: string, waitedMs: number): void;
  /** Totals by tool, for one session or for all. A copy: later calls do not change it. */
  totals(sessionId?: string): Totals;
  forget(sessionId: string): void;
}

export function createMetrics(): Metrics {
  const all = new Scope();
  const sessions = new Map<string, Scope>();
  return {
    open(sessionId) {
      sessions.set(sessionId, new Scope());
    },
    count(sessionId, tool, call) {
      all.of(tool).count(call);
      sessions.get(sessionId)?.of(tool).count(call);
    },
    lockWaited(sessionId, tool, waitedMs) {
      all.of(tool).waited(waitedMs);
      sessions.get(sessionId)?.of(tool).waited(waitedMs);
    },
    totals: (sessionId) => (sessionId === undefined ? all : sessions.get(sessionId))?.totals() ?? {},
    forget(sessionId) {
      sessions.delete(sessionId);
    },
  };
}

class Scope {
  readonly #tallies = new Map<string, Tally>();

  of(tool: string): Tally {
    const known = this.#tallies.get(tool);
    if (known !== undefined) return known;
    const made = new Tally();
    this.#tallies.set(tool, made);
    return made;
  }

  totals(): Totals {
    return Object.fromEntries([...this.#tallies].map(([tool, tally]) => [tool, tally.totals()]));
  }
}

class Tally {
  #calls = 0;
  #errors = 0;
  #denials = 0;
  #durationMs = 0;
  #maxDurationMs = 0;
  #bytes = 0;
  #filesTouched = 0;
  #lockWaits = 0;
  #lockWaitMs = 0;
  #approvalWaits = 0;
  #approvalWaitMs = 0;
  readonly #durations = new Float64Array(DURATION_BOUNDS_MS.length + 1);
  readonly #errorCodes = new Map<string, number>();

  count(call: CallFigures): void {
    this.#calls += 1;
    this.#durationMs += call.durationMs;
    if (call.waitedMs > 0) this.#approvalWaits += 1;
    this.#approvalWaitMs += call.waitedMs;
    if (call.durationMs > this.#maxDurationMs) this.#maxDurationMs = call.durationMs;
    const step = stepOf(call.durationMs);
    this.#durations[step] = (this.#durations[step] ?? 0) + 1;
    this.#bytes += call.bytes;
    this.#filesTouched += call.changes.length;
    if (call.status === 'denied_before_execution') this.#denials += 1;
    if (call.status === 'completed' && call.errors.length === 0) return;
    this.#errors += 1;
    // A cancelled call carries E_INTERNAL, but counted as that it would look like a failure of the runtime.
    const code = call.status === 'cancelled' ? 'cancelled' : (call.errors[0]?.code ?? 'E_INTERNAL');
    this.#errorCodes.set(code, (this.#errorCodes.get(code) ?? 0) + 1);
  }

  waited(waitedMs: number): void {
    this.#lockWaits += 1;
    this.#lockWaitMs += waitedMs;
  }

  totals(): ToolTotals {
    return {
      calls: this.#calls,
      errors: this.#errors,
      errorCodes: Object.fromEntries(this.#errorCodes),
      denials: this.#denials,
      durationMs: this.#durationMs,
      maxDurationMs: this.#maxDurationMs,
      durations: [...this.#durations],
      bytes: this.#bytes,
      filesTouched: this.#filesTouched,
      lockWaits: this.#lockWaits,
      lockWaitMs: this.#lockWaitMs,
      approvalWaits: this.#approvalWaits,
      approvalWaitMs: this.#approvalWaitMs,
    };
  }
}

/** Most calls are short, so a walk from the start beats a search by halves. */
function stepOf(durationMs: number): number {
  let step = 0;
  while (step < DURATION_BOUNDS_MS.length && durationMs > (DURATION_BOUNDS_MS[step] ?? 0)) step++;
  return step;
}
