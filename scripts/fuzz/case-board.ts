/**
 * What a worker is doing, in memory that survives it: the number of the case that runs and its input. A worker that is
 * stuck or gone can no longer be asked.
 */

const HEADER_BYTES = 16;

const CASE = 0;
const LENGTH = 1;
const IS_RUNNING = 2;

export class CaseBoard {
  readonly memory: SharedArrayBuffer;
  readonly #header: Int32Array;
  readonly #input: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#header = new Int32Array(memory, 0, HEADER_BYTES / 4);
    this.#input = new Uint8Array(memory, HEADER_BYTES);
  }

  static create(maxBytes: number): CaseBoard {
    return new CaseBoard(new SharedArrayBuffer(HEADER_BYTES + maxBytes));
  }

  begin(input: Buffer): void {
    this.#input.set(input.subarray(0, this.#input.length));
    Atomics.store(this.#header, LENGTH, Math.min(input.length, this.#input.length));
    Atomics.add(this.#header, CASE, 1);
    Atomics.store(this.#header, IS_RUNNING, 1);
  }

  end(): void {
    Atomics.store(this.#header, IS_RUNNING, 0);
  }

  /** How many cases were begun, those of minimising included. */
  get begun(): number {
    return Atomics.load(this.#header, CASE);
  }

  /** Undefined between two cases. */
  get running(): number | undefined {
    return Atomics.load(this.#header, IS_RUNNING) === 1 ? Atomics.load(this.#header, CASE) : undefined;
  }

  /** Of the case that runs, or of the last one. */
  get input(): Buffer {
    return Buffer.from(this.#input.slice(0, Atomics.load(this.#header, LENGTH)));
  }
}
