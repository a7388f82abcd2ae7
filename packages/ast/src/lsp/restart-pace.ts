/** How fast a server that keeps ending is started again: 0.5, 2, 8 seconds, then a rest of five minutes. */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import { coolingDown } from './server-errors.ts';
import type { LspTimers } from './timers.ts';

const PAUSES_MS = [500, 2_000, 8_000];
const COOLDOWN_MS = 5 * 60_000;
/** A server that ran this long did not fail at starting; its next end is the first again. */
const PROVEN_MS = 60_000;

export class RestartPace {
  readonly #provider: string;
  readonly #timers: LspTimers;
  #failures = 0;
  #notBefore = 0;
  #last: JsonObject = {};

  constructor(provider: string, timers: LspTimers) {
    this.#provider = provider;
    this.#timers = timers;
  }

  ended(livedMs: number, why: ToolError): void {
    if (livedMs >= PROVEN_MS) this.#failures = 0;
    this.#failures += 1;
    this.#last = why.details;
    const pause = PAUSES_MS[this.#failures - 1] ?? COOLDOWN_MS;
    this.#notBefore = this.#timers.monotonic() + pause;
  }

  /** Milliseconds to wait before the next start. Throws while the server rests. */
  pauseMs(): number {
    if (this.#failures === 0) return 0;
    const left = Math.max(0, this.#notBefore - this.#timers.monotonic());
    if (this.#failures <= PAUSES_MS.length) return left;
    if (left > 0) throw coolingDown(this.#provider, Math.ceil(left / 1_000), this.#last);
    this.#failures = 0;
    return 0;
  }
}
