import type { Clock } from '../contracts/clock.ts';

export function createSystemClock(): Clock {
  return { now: () => Date.now(), monotonic: () => performance.now() };
}
