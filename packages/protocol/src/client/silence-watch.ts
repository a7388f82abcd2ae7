/** Notices a connection that is open and dead: a heartbeat went out, and nothing at all has come back for a while. */
import { type IdleTimer, idleTimer } from './idle-timer.ts';

export class SilenceWatch {
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #timer: IdleTimer | undefined;

  constructor(limitMs: number, onSilence: () => void) {
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
  }

  expect(): void {
    // A longer wait than a timer can hold would fire at once.
    if (this.#timer === undefined && this.#limitMs < 2 ** 31) this.#timer = idleTimer(this.#onSilence, this.#limitMs);
  }

  heard(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
