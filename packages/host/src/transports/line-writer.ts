/**
 * Lines of text to a stream whose reader may be slow or gone.
 *
 * Whether it is gone is kept here: process.stdout comes back to life after an error and says it is not destroyed.
 */
import type { Writable } from 'node:stream';

/** Appending a newline, or another line, copies a long text once more. */
export const LONG_CHARACTERS = 16 * 1024;

export class LineWriter {
  readonly #output: Writable;
  readonly #onGone: () => void;
  readonly #waiting = new Set<() => void>();
  #isGone: boolean;
  #isCorked = false;

  constructor(output: Writable, onGone: () => void = () => {}) {
    this.#output = output;
    this.#onGone = onGone;
    this.#isGone = output.destroyed;
    output.on('drain', this.#wake);
    output.on('error', this.#leave);
    output.on('close', this.#leave);
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Lines that come up together leave together: one system call, not one for each. */
  write(line: string): void {
    if (this.#isGone) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#output.cork();
      process.nextTick(this.#uncork);
    }
    if (line.length < LONG_CHARACTERS) this.#output.write(`${line}\n`);
    else {
      this.#output.write(line);
      this.#output.write('\n');
    }
  }

  /** Nothing to wait for, or a promise of the moment when the reader has caught up or is gone. */
  ready(): Promise<void> | undefined {
    if (this.#isGone || !this.#output.writableNeedDrain) return undefined;
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Resolves when everything written has been passed on, or the reader is gone. */
  flush(): Promise<void> {
    if (this.#isGone) return Promise.resolve();
    this.#uncork();
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      this.#output.write('', () => resolve());
    });
  }

  /** Forgets the stream, which stays open. Errors are still swallowed: a reader may leave after the last line. */
  release(): void {
    this.#output.off('drain', this.#wake);
    this.#output.off('close', this.#leave);
  }

  readonly #uncork = (): void => {
    this.#isCorked = false;
    this.#output.uncork();
  };

  readonly #wake = (): void => {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  };

  readonly #leave = (): void => {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#wake();
    this.#onGone();
  };
}
