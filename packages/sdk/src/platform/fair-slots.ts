/**
 * A counted gate with turns: when every slot is taken, the next free one goes to the owner that has waited longest for a
 * turn, however many waits the others have in line. Waits of one owner are served in order.
 */
export class FairSlots {
  #free: number;
  readonly #size: number;
  /** Owners with waits, in the order of their turns. */
  readonly #lines = new Map<string, (() => void)[]>();

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  get size(): number {
    return this.#size;
  }

  get taken(): number {
    return this.#size - this.#free;
  }

  get isFree(): boolean {
    return this.#free > 0;
  }

  /** Nothing to wait for, or a promise of the slot; false when `signal` came first, and there is nothing to give. */
  take(owner: string, signal?: AbortSignal): Promise<boolean> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const turn = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = (): void => {
        this.#leave(owner, turn);
        resolve(false);
      };
      const line = this.#lines.get(owner);
      if (line === undefined) this.#lines.set(owner, [turn]);
      else line.push(turn);
      signal?.addEventListener('abort', leave, { once: true });
      if (signal?.aborted) leave();
    });
  }

  /** Takes one even when none is free: for a call that had one and lent it out while it waited for a person. */
  takeBack(): void {
    this.#free -= 1;
  }

  give(): void {
    if (this.#free < 0) {
      this.#free += 1;
      return;
    }
    const [first] = this.#lines;
    if (first === undefined) {
      this.#free += 1;
      return;
    }
    const [owner, line] = first;
    const next = line.shift();
    // To the end of the round, or out of it.
    this.#lines.delete(owner);
    if (line.length > 0) this.#lines.set(owner, line);
    next?.();
  }

  #leave(owner: string, turn: () => void): void {
    const line = this.#lines.get(owner) ?? [];
    const rest = line.filter((other) => other !== turn);
    if (rest.length > 0) this.#lines.set(owner, rest);
    else this.#lines.delete(owner);
  }
}
