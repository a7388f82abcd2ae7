/** The entries of an index file one after the other, without an object for each: there may be very many. */
import type { IndexFacts } from './read-index.ts';

const FLAGS_BYTES = 2;
const STAT_BYTES = 40;
const MODE_AT = 24;
const LONG_NAME = 0xfff;

export interface IndexEntry {
  readonly mode: string;
  readonly hash: string;
  /** One character a byte. */
  readonly path: string;
}

/** Goes through the entries of an index, which are in the order of their paths. */
export class IndexEntries {
  readonly #bytes: Buffer;
  readonly #hashBytes: number;
  #at = 0;

  constructor({ entries }: IndexFacts, hashBytes: number) {
    this.#bytes = entries;
    this.#hashBytes = hashBytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  get pathLength(): number {
    const { start, end } = this.#name(this.#at);
    return end - start;
  }

  current(): IndexEntry {
    const { start, end } = this.#name(this.#at);
    const hashAt = this.#at + STAT_BYTES;
    return {
      mode: this.#bytes.readUInt32BE(this.#at + MODE_AT).toString(8),
      hash: this.#bytes.toString('hex', hashAt, hashAt + this.#hashBytes),
      path: this.#bytes.toString('latin1', start, end),
    };
  }

  next(): void {
    this.#at = this.#after(this.#at);
  }

  /** Whether the current entry is below the folder. */
  isBelow(folder: string): boolean {
    return !this.isAtEnd && this.#startsWith(this.#at, folder);
  }

  /** Passes over the entries of a folder. False, and nothing passed, unless exactly so many are below it. */
  skip(count: number, folder: string): boolean {
    let [at, last] = [this.#at, this.#at];
    for (let left = count; left > 0; left--) {
      if (at >= this.#bytes.length) return false;
      last = at;
      at = this.#after(at);
    }
    const isWhole = count > 0 && this.#startsWith(this.#at, folder) && this.#startsWith(last, folder);
    if (!isWhole || (at < this.#bytes.length && this.#startsWith(at, folder))) return false;
    this.#at = at;
    return true;
  }

  #name(at: number): { readonly start: number; readonly end: number } {
    const flagsAt = at + STAT_BYTES + this.#hashBytes;
    const start = flagsAt + FLAGS_BYTES;
    const length = this.#bytes.readUInt16BE(flagsAt) & LONG_NAME;
    return { start, end: length === LONG_NAME ? this.#bytes.indexOf(0, start) : start + length };
  }

  /** Filled up with one to eight zeros. */
  #after(at: number): number {
    return at + ((this.#name(at).end - at + 8) & ~7);
  }

  #startsWith(at: number, folder: string): boolean {
    const { start } = this.#name(at);
    return this.#bytes.toString('latin1', start, start + folder.length) === folder;
  }
}

/** Whether the index has all of the paths, which are one character a byte. */
export function hasEntries(facts: IndexFacts, hashBytes: number, paths: ReadonlySet<string>): boolean {
  const missing = new Set(paths);
  const lengths = new Set([...paths].map((path) => path.length));
  const entries = new IndexEntries(facts, hashBytes);
  for (; missing.size > 0 && !entries.isAtEnd; entries.next()) {
    if (lengths.has(entries.pathLength)) missing.delete(entries.current().path);
  }
  return missing.size === 0;
}
