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

  /** Nothing to wait for, or a promise of the slot. */
  take(sessionId: string): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const line = this.#lines.get(sessionId);
      if (line === undefined) this.#lines.set(sessionId, [resolve]);
      else line.push(resolve);
    });
  }

  give(): void {
    const [turn] = this.#lines;
    if (turn === undefined) {
      this.#free += 1;
      return;
    }
    const [sessionId, line] = turn;
    const next = line.shift();
    // To the end of the round, or out of it.
    this.#lines.delete(sessionId);
    if (line.length > 0) this.#lines.set(sessionId, line);
    next?.();
  }
}
