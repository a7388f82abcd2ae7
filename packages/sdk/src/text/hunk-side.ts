/** The old or the new lines of one hunk, without the other side's. */
import { ADDED, REMOVED } from './diff-reader.ts';
import type { Lines, LineTable } from './line-table.ts';
import { endsInLineFeed } from './same-line.ts';
import type { Hunk } from './unified-diff.ts';

export class HunkSide implements Lines {
  readonly bytes: Buffer;
  readonly length: number;
  readonly #table: LineTable;
  readonly #rows: Int32Array;

  constructor(table: LineTable, hunk: Hunk, side: 'old' | 'new') {
    const leftOut = side === 'old' ? ADDED : REMOVED;
    this.bytes = table.bytes;
    this.length = hunk.endRow - hunk.firstRow - (side === 'old' ? hunk.added : hunk.removed);
    this.#table = table;
    this.#rows = new Int32Array(this.length);
    let filled = 0;
    for (let row = hunk.firstRow; row < hunk.endRow; row++) {
      if (table.mark(row) !== leftOut) this.#rows[filled++] = row;
    }
  }

  start(index: number): number {
    return this.#table.start(this.#rows[index] ?? 0);
  }

  end(index: number): number {
    return this.#table.end(this.#rows[index] ?? 0);
  }

  /** Said to be the end of a file that has no newline there. */
  get isBare(): boolean {
    return this.length > 0 && !endsInLineFeed(this, this.length - 1);
  }
}
