/** What a session and its children used, added up. */
import type { Totals } from '../events/metrics.ts';
import type { Usage } from './child-session.ts';

export const NO_USAGE: Usage = Object.freeze({ calls: 0, errors: 0, bytes: 0, duration_ms: 0 });

export function usageOf(totals: Totals): Usage {
  return Object.values(totals).reduce<Usage>(
    (sum, { calls, errors, bytes, durationMs }) => addUsage(sum, { calls, errors, bytes, duration_ms: durationMs }),
    NO_USAGE,
  );
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    calls: one.calls + other.calls,
    errors: one.errors + other.errors,
    bytes: one.bytes + other.bytes,
    duration_ms: one.duration_ms + other.duration_ms,
  };
}
