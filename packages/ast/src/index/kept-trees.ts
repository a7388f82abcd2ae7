/** Trees of the files edited lately, so that the next edit reparses only what it touched. Nothing else frees them. */
import type { ParsedSource } from '../parse/source-parser.ts';

const MAX_TREES = 32;
const MAX_HEAP_BYTES = 64 * 1024 * 1024;
/** A tree takes about this many times the memory of its source. */
const TREE_FACTOR = 12;

export class KeptTrees {
  readonly #beforeEviction: (path: string) => void;
  /** By path, the least recently used first. */
  readonly #trees = new Map<string, ParsedSource>();
  #heapBytes = 0;

  /** `beforeEviction` is told of a tree that must go to make room, while it still can be read. */
  constructor(beforeEviction: (path: string) => void = () => undefined) {
    this.#beforeEviction = beforeEviction;
  }

  /** Stays the keeper's, and is valid until something else is put or dropped. */
  get(path: string, language: string): ParsedSource | undefined {
    const parsed = this.#trees.get(path);
    return parsed?.parser.language === language ? parsed : undefined;
  }

  put(path: string, parsed: ParsedSource): void {
    this.drop(path);
    this.#trees.set(path, parsed);
    this.#heapBytes += cost(parsed);
    for (const [oldest] of this.#trees) {
      if (this.#trees.size <= MAX_TREES && this.#heapBytes <= MAX_HEAP_BYTES) break;
      this.#beforeEviction(oldest);
      this.drop(oldest);
    }
  }

  drop(path: string): void {
    const parsed = this.#trees.get(path);
    if (parsed === undefined) return;
    this.#trees.delete(path);
    this.#heapBytes -= cost(parsed);
    parsed.delete();
  }

  clear(): void {
    for (const path of [...this.#trees.keys()]) this.drop(path);
  }

  /** Forgets all without freeing them: for a parser that failed. */
  abandon(): void {
    this.#trees.clear();
    this.#heapBytes = 0;
  }
}

function cost({ source }: ParsedSource): number {
  return source.bytes.byteLength * TREE_FACTOR;
}
