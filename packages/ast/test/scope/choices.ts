/** Decisions of a generator, read from a list that a property test makes and shrinks: zeros choose what is simplest. */
export class Choices {
  readonly #tape: readonly number[];
  #at = 0;

  constructor(tape: readonly number[]) {
    this.#tape = tape;
  }

  /** From 0 up to, not including, `limit`. */
  below(limit: number): number {
    const choice = this.#tape[this.#at++ % this.#tape.length] ?? 0;
    return limit <= 0 ? 0 : choice % limit;
  }

  /** Once in `of` times. */
  rarely(of: number): boolean {
    return this.below(of) === of - 1;
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)];
    if (chosen === undefined) throw new TypeError('Nothing to choose from');
    return chosen;
  }

  some<T>(list: readonly T[], oneIn: number): T[] {
    return list.filter(() => this.below(oneIn) === 0);
  }
}
