/**
 * The bytes of a file under change: which parts are still the file's own and which are new.
 *
 * Immutable. However many rounds of edits it went through, `edits` says what they amount to against the original.
 */
import type { ByteEdit } from './edit-plan.ts';

interface Piece {
  /** In the original; undefined for new bytes. */
  readonly start: number | undefined;
  readonly bytes: Uint8Array;
}

export class PieceTable {
  readonly #original: Uint8Array;
  readonly #pieces: readonly Piece[];

  private constructor(original: Uint8Array, pieces: readonly Piece[]) {
    this.#original = original;
    this.#pieces = pieces;
  }

  static of(original: Uint8Array): PieceTable {
    return new PieceTable(original, original.length === 0 ? [] : [{ start: 0, bytes: original }]);
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces.map((piece) => piece.bytes));
  }

  /** `edits` in file order, none overlapping, in bytes of the present content. */
  change(edits: readonly ByteEdit[]): PieceTable {
    const made: Piece[] = [];
    let at = 0;
    for (const edit of edits) {
      made.push(...this.#between(at, edit.start), { start: undefined, bytes: edit.bytes });
      at = edit.end;
    }
    made.push(...this.#between(at, Number.POSITIVE_INFINITY));
    return new PieceTable(
      this.#original,
      made.filter((piece) => piece.bytes.length > 0),
    );
  }

  /** What leads from the original to the present content. */
  edits(): readonly ByteEdit[] {
    const found: ByteEdit[] = [];
    let at = 0;
    let fresh: Uint8Array[] = [];
    const close = (end: number) => {
      if (fresh.length > 0 || end > at) found.push({ start: at, end, bytes: Buffer.concat(fresh) });
      fresh = [];
    };
    for (const { start, bytes } of this.#pieces) {
      if (start === undefined) fresh.push(bytes);
      else {
        close(start);
        at = start + bytes.length;
      }
    }
    close(this.#original.length);
    return found;
  }

  /** Where a range of the original lies now; undefined when something in it was changed. */
  place(start: number, end: number): { readonly start: number; readonly end: number } | undefined {
    let at = 0;
    for (const piece of this.#pieces) {
      const from = piece.start;
      if (from !== undefined && from <= start && end <= from + piece.bytes.length) {
        return { start: at + start - from, end: at + end - from };
      }
      at += piece.bytes.length;
    }
    return undefined;
  }

  /** The way back: where a range of the present content was in the original. */
  origin(start: number, end: number): { readonly start: number; readonly end: number } | undefined {
    let at = 0;
    for (const piece of this.#pieces) {
      const isInside = at <= start && end <= at + piece.bytes.length;
      if (isInside && piece.start !== undefined)
        return { start: piece.start + start - at, end: piece.start + end - at };
      at += piece.bytes.length;
    }
    return undefined;
  }

  #between(from: number, to: number): Piece[] {
    const found: Piece[] = [];
    let at = 0;
    for (const { start, bytes } of this.#pieces) {
      const first = Math.max(0, from - at);
      const last = Math.min(bytes.length, to - at);
      if (first < last) {
        found.push({ start: start === undefined ? undefined : start + first, bytes: bytes.subarray(first, last) });
      }
      at += bytes.length;
    }
    return found;
  }
}
