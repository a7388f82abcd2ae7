/** Long work on the event loop in short slices, so that everybody else gets their turn and a signal is heard. */

const SLICE_MS = 4;
/** Looking at the clock costs too: it is done after so much work, in units of a few tens of nanoseconds. */
const UNITS_PER_LOOK = 512;

export class Pace {
  readonly #signal: AbortSignal | undefined;
  #units = 0;
  #sliceEnd = performance.now() + SLICE_MS;

  /** Throws the signal's reason when it has fired already. */
  constructor(signal: AbortSignal | undefined) {
    signal?.throwIfAborted();
    this.#signal = signal;
  }

  /** True when it is time to `await pause()`. */
  isDue(units: number): boolean {
    this.#units += units;
    if (this.#units < UNITS_PER_LOOK) return false;
    this.#units = 0;
    return performance.now() >= this.#sliceEnd;
  }

  /** Throws the signal's reason. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
    this.#sliceEnd = performance.now() + SLICE_MS;
  }
}
