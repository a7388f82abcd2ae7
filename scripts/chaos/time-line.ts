/** What was done to the host and when: printed with every violation, and asked whether a call had any excuse to fail. */
export interface Moment {
  /** Since the start of the run. */
  readonly atMs: number;
  readonly text: string;
}

/** Effects of a fault linger: queues drain, servers start again. */
const AFTERMATH_MS = 3000;

export class TimeLine {
  readonly moments: Moment[] = [];
  readonly #startedAt = performance.now();
  readonly #active = new Set<string>();
  #troubledUntil = 0;

  get nowMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Names of the faults that are in force. */
  get active(): readonly string[] {
    return [...this.#active];
  }

  note(text: string): void {
    this.moments.push({ atMs: this.nowMs, text });
  }

  /** From now on this is wrong with the world; the returned function says when it is no longer. */
  begin(fault: string, detail: string): () => void {
    this.note(`${fault} begins: ${detail}`);
    this.#active.add(fault);
    return () => {
      this.#active.delete(fault);
      this.#troubledUntil = this.nowMs + AFTERMATH_MS;
      this.note(`${fault} ends`);
    };
  }

  /** Whether nothing was wrong from `sinceMs` until now. */
  isCalmSince(sinceMs: number): boolean {
    return this.#active.size === 0 && sinceMs >= this.#troubledUntil;
  }

  /** Whether such a fault is in force, or was a moment ago. */
  wasRecently(fault: RegExp): boolean {
    return (
      this.moments.some(({ atMs, text }) => fault.test(text) && this.nowMs - atMs < AFTERMATH_MS) ||
      this.active.some((name) => fault.test(name))
    );
  }

  /** The last moments, for evidence. */
  tail(count: number): readonly string[] {
    return this.moments.slice(-count).map(({ atMs, text }) => `${(atMs / 1000).toFixed(2)} s ${text}`);
  }
}
