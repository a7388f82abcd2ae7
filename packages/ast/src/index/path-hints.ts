/**
 * Says in which files something was seen, by a number. Never wrong about a file that has it; files that lost it since may
 * still be named, so whoever asks looks. That keeps changing a file cheap: what is gone is not searched for.
 */
export class PathHints {
  #seen = new Map<number, string | Set<string>>();
  #size = 0;

  /** Pairs of number and path. */
  get size(): number {
    return this.#size;
  }

  add(key: number, path: string): void {
    const known = this.#seen.get(key);
    if (known === path) return;
    if (known === undefined) this.#seen.set(key, path);
    else if (typeof known === 'string') this.#seen.set(key, new Set([known, path]));
    else if (known.has(path)) return;
    else known.add(path);
    this.#size += 1;
  }

  countOf(key: number): number {
    const known = this.#seen.get(key);
    if (known === undefined) return 0;
    return typeof known === 'string' ? 1 : known.size;
  }

  /** In no order. */
  pathsOf(key: number): readonly string[] {
    const known = this.#seen.get(key);
    if (known === undefined) return [];
    return typeof known === 'string' ? [known] : [...known];
  }

  clear(): void {
    this.#seen = new Map();
    this.#size = 0;
  }
}
