/** Long work on the event loop in short slices, so that everyone else gets their turn and a signal is heard. */
import { throwIfAborted } from './cancellation.ts';

const SLICE_MS = 4;
/** Looking at the clock costs too: it is done after so much work, in units of a few tens of nanoseconds. */
const UNITS_PER_LOOK = 512;

/** What opening, copying or removing one entry of a folder costs. */
export const ENTRY_UNITS = 256;

export class Pace {
  readonly #signal: AbortSignal | undefined;
  #units = 0;
  #sliceEnd = performance.now() + SLICE_MS;

  /** Throws when the signal has fired already, as `pause` does. */
  constructor(signal: AbortSignal | undefined) {
    throwIfAborted(signal);
    this.#signal = signal;
  }

  /** True when it is time to `await pause()`. */
  isDue(units: number): boolean {
    this.#units += units;
    if (this.#units < UNITS_PER_LOOK) return false;
    this.#units = 0;
    return performance.now() >= this.#sliceEnd;
  }

  /** Throws the signal's reason once it has fired; a reason that is no ToolError becomes the cause of one. */
  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    throwIfAborted(this.#signal);
    this.#sliceEnd = performance.now() + SLICE_MS;
  }
}
