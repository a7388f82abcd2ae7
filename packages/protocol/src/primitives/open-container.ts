/**
 * What one open JSON container has shown so far: the keys of an object, or the position in an array.
 *
 * A handful of keys is compared one by one; a Set is made only for objects that grow past that, because hashing
 * every key of every small object is what makes naive duplicate checks slow.
 */
import { CLOSE_BRACE } from './json-tokens.ts';

const SMALL = 8;

export class OpenContainer {
  /** Character code that ends it. */
  closer = CLOSE_BRACE;
  /** The key or index being read; undefined between the members of an object. */
  current: string | number | undefined;
  #few: string[] = [];
  #count = 0;
  #many: Set<string> | undefined;

  get isObject(): boolean {
    return this.closer === CLOSE_BRACE;
  }

  /** Starts over: one instance serves every container that opens at its depth. */
  reset(closer: number): void {
    this.closer = closer;
    this.current = closer === CLOSE_BRACE ? undefined : 0;
    this.#count = 0;
    this.#many = undefined;
  }

  /** False when the object has this key already. */
  addKey(key: string): boolean {
    this.current = key;
    if (this.#many !== undefined) return this.#many.size < this.#many.add(key).size;
    for (let index = 0; index < this.#count; index++) if (this.#few[index] === key) return false;
    this.#few[this.#count++] = key;
    if (this.#count === SMALL) this.#many = new Set(this.#few);
    return true;
  }

  addItem(): void {
    this.current = (this.current as number) + 1;
  }
}
