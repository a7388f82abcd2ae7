/** The pins of one runtime in memory. Another process may approve meanwhile, so the file is read again now and then. */
import { listPins, ownEntry, type Pins, type ServerPins, updatePins } from './pin-file.ts';

const FRESH_MS = 1_000;
const NO_PINS: ServerPins = { tools: {} };

export class PinBook {
  readonly #state: string;
  #pins: Pins | undefined;
  #readAt = 0;

  constructor(state: string) {
    this.#state = state;
  }

  of(server: string): ServerPins {
    const now = performance.now();
    if (this.#pins === undefined || now - this.#readAt > FRESH_MS) {
      this.#pins = listPins(this.#state);
      this.#readAt = now;
    }
    return ownEntry(this.#pins, server) ?? NO_PINS;
  }

  /** From what the file says now; written only when something is new. */
  update(server: string, change: (before: ServerPins) => ServerPins): void {
    this.#pins = undefined;
    const before = this.of(server);
    if (JSON.stringify(change(before)) === JSON.stringify(before)) return;
    updatePins(this.#state, (pins) => ({ ...pins, [server]: change(ownEntry(pins, server) ?? NO_PINS) }));
    this.#pins = undefined;
  }
}
