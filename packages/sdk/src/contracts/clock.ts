/** Time as the runtime sees it: wall-clock time for people, monotonic time for durations and deadlines. */
export interface Clock {
  /** Unix milliseconds. Never used for order. */
  now(): number;
  /** Milliseconds from an arbitrary start, never stepping back. */
  monotonic(): number;
}
