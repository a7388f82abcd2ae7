import type { Clock } from '../contracts/clock.ts';

/** Node's own functions, not wrapped: every call reads the time several times. */
export function createSystemClock(): Clock {
  return { now: Date.now, monotonic: performance.now.bind(performance) };
}
