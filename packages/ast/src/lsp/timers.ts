/** Time as the language servers' part sees it: one port, so that back-off, idle stop and cooldown can be tested without waiting. */

export interface LspTimers {
  /** Milliseconds from an arbitrary start, never stepping back. */
  monotonic(): number;
  /** Runs `run` once after `ms`; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
}

export function createSystemTimers(): LspTimers {
  return {
    monotonic: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  };
}
