/**
 * Memory for the columns of many files, cut from large pieces. Thousands of small arrays between the buffers of files
 * that come and go would keep the allocator from giving anything back.
 */
const SLAB_CELLS = 64 * 1024;
/** Larger columns are as good as a piece of their own. */
const MAX_SHARED_CELLS = SLAB_CELLS / 8;

export class CellSlabs {
  #free = new Uint32Array(0);

  take(length: number): Uint32Array {
    if (length > MAX_SHARED_CELLS) return new Uint32Array(length);
    if (length > this.#free.length) this.#free = new Uint32Array(SLAB_CELLS);
    const taken = this.#free.subarray(0, length);
    this.#free = this.#free.subarray(length);
    return taken;
  }
}
