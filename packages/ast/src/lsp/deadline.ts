/** One caller's patience: a time limit and a signal that every step of its request shares. */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { cancelled, tooLate } from './server-errors.ts';

export interface Limits {
  /** For everything: start, waiting until ready, the request itself. 30 s by default. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 30_000;

export interface GivingUp {
  /** `details.reason` of the E_TIMEOUT. */
  readonly late: string;
  /** Runs when the caller stops waiting before the work is done. */
  abandon?(): void;
}

export class Deadline {
  readonly #provider: string;
  readonly #timers: LspTimers;
  readonly #until: number;
  readonly #signal: AbortSignal | undefined;

  constructor(provider: string, timers: LspTimers, limits: Limits) {
    this.#provider = provider;
    this.#timers = timers;
    this.#until = timers.monotonic() + (limits.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    this.#signal = limits.signal;
  }

  remainingMs(): number {
    return Math.max(0, this.#until - this.#timers.monotonic());
  }

  /** The work's own outcome, or E_TIMEOUT, or the signal's reason. The work itself goes on unless `abandon` ends it. */
  async race<T>(work: Promise<T>, { late, abandon }: GivingUp): Promise<T> {
    const given = Promise.withResolvers<never>();
    const giveUp = (why: ToolError) => {
      given.reject(why);
      abandon?.();
    };
    const onAbort = () => giveUp(this.#abortReason());
    // A caller that gave up no longer looks at the outcome.
    work.catch(() => {});
    given.promise.catch(() => {});
    const onLate = () => giveUp(tooLate(this.#provider, late));
    const disarm = this.#timers.after(this.remainingMs(), onLate);
    this.#signal?.addEventListener('abort', onAbort, { once: true });
    try {
      if (this.#signal?.aborted === true) onAbort();
      // Work that is done already would win against any timer, and a caller that repeats such work would never end.
      else if (this.remainingMs() === 0) onLate();
      return await Promise.race([given.promise, work]);
    } finally {
      disarm();
      this.#signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Waits, but no longer than there is time: the limit itself is left to the next step. */
  async pause(ms: number): Promise<void> {
    const done = Promise.withResolvers<void>();
    const disarm = this.#timers.after(Math.min(ms, this.remainingMs()), done.resolve);
    await this.race(done.promise, { late: 'server_indexing', abandon: disarm });
  }

  #abortReason(): ToolError {
    const reason: unknown = this.#signal?.reason;
    return isToolError(reason) ? reason : cancelled(this.#provider);
  }
}

export interface LspTimers {
  /** Milliseconds from an arbitrary start, never stepping back. */
  monotonic(): number;
  /** Runs `run` once after `ms`; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
}

/**
 * Time as the language servers' part sees it: one port, so that back-off, idle stop and cooldown can be tested without waiting.
 */
export function createSystemTimers(): LspTimers {
  return {
    monotonic: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  };
}
