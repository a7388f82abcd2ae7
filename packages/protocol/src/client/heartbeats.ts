/** Sends signs of life at a steady pace. Does not keep a process alive that has nothing else to do. */
import { type IdleTimer, idleTimer } from './backoff.ts';

export class Heartbeats {
  readonly #everyMs: number;
  readonly #beat: () => void;
  #timer: IdleTimer | undefined;

  constructor(everyMs: number, beat: () => void) {
    if (!(everyMs > 0)) throw new TypeError('heartbeatMs must be more than 0');
    this.#everyMs = Math.min(everyMs, 2 ** 31 - 1);
    this.#beat = beat;
    this.#schedule();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer = idleTimer(() => {
      this.#schedule();
      this.#beat();
    }, this.#everyMs);
  }
}
