/** Waiting times that double up to a limit. The upper half of each is random, so that many clients do not come at once. */
export interface BackoffOptions {
  readonly minDelayMs?: number;
  readonly maxDelayMs?: number;
  /** From 0 up to, not including, 1. */
  random?(): number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  #step = 0;

  constructor(options: BackoffOptions = {}) {
    this.#options = options;
  }

  next(): number {
    const { minDelayMs = 100, maxDelayMs = 10_000 } = this.#options;
    const full = Math.min(maxDelayMs, minDelayMs * 2 ** this.#step);
    // Past this the doubled value is only larger; kept small so that it stays a finite number.
    if (this.#step < 30) this.#step += 1;
    const random = this.#options.random?.() ?? Math.random();
    return full / 2 + (full / 2) * random;
  }

  reset(): void {
    this.#step = 0;
  }
}
