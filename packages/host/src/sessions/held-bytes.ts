/** Weight of what a connection has under way; beyond the limit its transport stops reading. */
export class HeldBytes {
  readonly #max: number;
  #bytes = 0;
  #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= this.#max) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Nothing to wait for, or a promise of the moment when there is room again. */
  place(): Promise<void> | undefined {
    if (this.#bytes < this.#max) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
