/**
 * Figures of a session as they go over the wire, and how a tool reports them.
 *
 * Aliases, not interfaces: only an alias passes for JSON without a cast.
 */

export type ToolRollup = {
  readonly calls: number;
  /** Calls that did not succeed, denied ones included. */
  readonly errors: number;
  readonly error_codes: Readonly<Record<string, number>>;
  /** Calls a gate refused before anything ran. */
  readonly denials: number;
  readonly duration_ms: number;
  readonly max_duration_ms: number;
  /** Calls by duration: one number for each of `duration_bounds_ms` and one for what took longer. Not cumulative. */
  readonly durations: readonly number[];
  readonly files_touched: number;
  readonly bytes: number;
  /** How often a lock was not free at once, and how long that took together. */
  readonly lock_waits: number;
  readonly lock_wait_ms: number;
  readonly approval_waits: number;
  readonly approval_wait_ms: number;
};

export type MetricsRollup = {
  readonly tools: Readonly<Record<string, ToolRollup>>;
  readonly total: ToolRollup;
  readonly duration_bounds_ms: readonly number[];
};

/** The figures of the caller's own session. */
export interface SessionMetrics {
  /**
   * Announces them now and, for an interval above 0, again and again until the session ends. The newest interval counts;
   * 0 stops. Returns what was announced; the running call is not in it yet.
   */
  report(intervalMs: number): MetricsRollup;
}
