/**
 * Leaves a side that failed alone for a while, longer after every further failure, so that a dead one does not cost its
 * time limit on every call. When the pause is over, one call tries again while the others still pass by.
 */
import type { Clock } from '../contracts/clock.ts';
import type { CoordinatorQuestion } from '../contracts/coordinator.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export interface CircuitBreaker {
  /** Whether to try. After a yes exactly one of the other three must follow. */
  mayTry(): boolean;
  succeeded(): void;
  failed(): void;
  /** The attempt ended without telling anything about the other side. */
  abandoned(): void;
}

/** One for each question: a coordinator may answer some and fail at others. */
export type CoordinatorBreakers = Readonly<Record<CoordinatorQuestion, CircuitBreaker>>;

export function createBreakers(clock: Clock): CoordinatorBreakers {
  return {
    plan: createCircuitBreaker(clock),
    budget: createCircuitBreaker(clock),
    policy: createCircuitBreaker(clock),
  };
}

export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  let pauseMs = 0;
  let pausedUntil = 0;
  let isTrying = false;
  return {
    mayTry() {
      if (pauseMs === 0) return true;
      if (isTrying || clock.monotonic() < pausedUntil) return false;
      isTrying = true;
      return true;
    },
    succeeded() {
      pauseMs = 0;
      isTrying = false;
    },
    failed() {
      isTrying = false;
      const now = clock.monotonic();
      // Calls that were under way together fail together: that is one failure.
      if (pauseMs > 0 && now < pausedUntil) return;
      pauseMs = pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      pausedUntil = now + pauseMs;
    },
    abandoned() {
      isTrying = false;
    },
  };
}
