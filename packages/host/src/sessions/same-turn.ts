/**
 * Lets everything that arrives in one turn of the event loop go on together. Calls of many connections then begin in one
 * turn, as those of a single connection do, and their records share a commit.
 */
export class SameTurn {
  #next: Promise<void> | undefined;

  /** The end of this turn, the same for everyone who asks within it. */
  end(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        resolve();
      });
    });
    return this.#next;
  }
}
