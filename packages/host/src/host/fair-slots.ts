/**
 * Running calls of the whole host, shared by turns: when all slots are taken, the next free one goes to the session
 * that has waited longest for a turn, however many calls the others have in line.
 */
export class FairSlots {
  #free: number;
  readonly #size: number;
  /** Sessions with waiting calls, in the order of their turns. */
  readonly #lines = new Map<string, (() => void)[]>();

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  get taken(): number {
    return this.#size - this.#free;
  }

  get isFree(): boolean {
    return this.#free > 0;
  }

  /** Nothing to wait for, or a promise of the slot; false when `signal` came first, and there is nothing to give. */
  take(sessionId: string, signal?: AbortSignal): Promise<boolean> | undefined {
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
        this.#leave(sessionId, turn);
        resolve(false);
      };
      const line = this.#lines.get(sessionId);
      if (line === undefined) this.#lines.set(sessionId, [turn]);
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
    const [sessionId, line] = first;
    const next = line.shift();
    // To the end of the round, or out of it.
    this.#lines.delete(sessionId);
    if (line.length > 0) this.#lines.set(sessionId, line);
    next?.();
  }

  #leave(sessionId: string, turn: () => void): void {
    const line = this.#lines.get(sessionId) ?? [];
    const rest = line.filter((other) => other !== turn);
    if (rest.length > 0) this.#lines.set(sessionId, rest);
    else this.#lines.delete(sessionId);
  }
}
