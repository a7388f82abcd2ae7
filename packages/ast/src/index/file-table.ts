/** The cards of all indexed files: by path, in the order of paths, and by the ids, names and calls they have. */
import type { FileCard } from './file-card.ts';
import { NameTable } from './name-table.ts';

/** Hints about what is gone are tolerated until they are as many as those that hold, and this many more. */
const SPARE_HINTS = 10_000;

export class FileTable {
  readonly names = new NameTable();
  readonly #cards = new Map<string, FileCard>();
  readonly #byId = new PathHints();
  readonly #byName = new PathHints();
  readonly #byCall = new PathHints();
  /** Without what came since, with what went since. */
  #sorted: FileCard[] = [];
  #came = new Set<string>();
  #went = 0;
  #nodes = 0;

  get size(): number {
    return this.#cards.size;
  }

  get nodeCount(): number {
    return this.#nodes;
  }

  get(path: string): FileCard | undefined {
    return this.#cards.get(path);
  }

  put(card: FileCard): void {
    const before = this.#cards.get(card.path);
    this.#cards.set(card.path, card);
    this.#nodes += card.marks.length - (before?.marks.length ?? 0);
    if (before === undefined) this.#came.add(card.path);
    else if (!this.#came.has(card.path)) this.#sorted[firstNotBelow(this.#sorted, card.path)] = card;
    this.#hint(card);
    if (this.#byId.size > 2 * this.#nodes + SPARE_HINTS) this.#hintAnew();
  }

  remove(path: string): boolean {
    const card = this.#cards.get(path);
    if (card === undefined) return false;
    this.#cards.delete(path);
    this.#nodes -= card.marks.length;
    this.#went += 1;
    return true;
  }

  /** By path. The array is replaced when a file comes or goes; until then its slots follow the files' newest cards. */
  sorted(): readonly FileCard[] {
    if (this.#came.size === 0 && this.#went === 0) return this.#sorted;
    const came = [...this.#came].map((path) => this.#cards.get(path)).filter((card) => card !== undefined);
    const stayed = this.#sorted.filter(({ path }) => this.#cards.has(path) && !this.#came.has(path));
    this.#sorted = merge(stayed, came.sort(byPath));
    this.#came = new Set();
    this.#went = 0;
    return this.#sorted;
  }

  /** Place of the first and behind the last card whose path begins so. */
  range(prefix: string): readonly [number, number] {
    const cards = this.sorted();
    const end = prefix === '' ? cards.length : firstNotBelow(cards, `${prefix}\uffff`);
    return [firstNotBelow(cards, prefix), end];
  }

  /** Files that may have a declaration with this key of an id. */
  withId(key: number): readonly FileCard[] {
    return this.#found(this.#byId, key);
  }

  /** Files that may declare this name, by path; undefined when they are so many that looking at all costs no more. */
  withName(name: number): readonly FileCard[] | undefined {
    return this.#few(this.#byName, name);
  }

  /** Likewise for files that may call it. */
  withCall(name: number): readonly FileCard[] | undefined {
    return this.#few(this.#byCall, name);
  }

  #few(hints: PathHints, key: number): readonly FileCard[] | undefined {
    return hints.countOf(key) > this.#cards.size / 8 + 8 ? undefined : this.#found(hints, key);
  }

  #found(hints: PathHints, key: number): readonly FileCard[] {
    const cards: FileCard[] = [];
    for (const path of hints.pathsOf(key)) {
      const card = this.#cards.get(path);
      if (card !== undefined) cards.push(card);
    }
    return cards.sort(byPath);
  }

  #hint({ path, ids, names, calls }: FileCard): void {
    for (const id of ids) this.#byId.add(id, path);
    for (const name of names) this.#byName.add(name, path);
    for (const name of calls) this.#byCall.add(name, path);
  }

  #hintAnew(): void {
    for (const hints of [this.#byId, this.#byName, this.#byCall]) hints.clear();
    for (const card of this.#cards.values()) this.#hint(card);
  }
}

/** Two lists by path as one. */
function merge(left: readonly FileCard[], right: readonly FileCard[]): FileCard[] {
  const merged: FileCard[] = [];
  let at = 0;
  for (const card of left) {
    for (let next = right[at]; next !== undefined && next.path < card.path; next = right[++at]) merged.push(next);
    merged.push(card);
  }
  return [...merged, ...right.slice(at)];
}

function byPath(left: FileCard, right: FileCard): number {
  return left.path < right.path ? -1 : 1;
}

function firstNotBelow(cards: readonly FileCard[], path: string): number {
  let low = 0;
  let high = cards.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((cards[middle]?.path ?? '') < path) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Says in which files something was seen, by a number. Never wrong about a file that has it; files that lost it since may
 * still be named, so whoever asks looks. That keeps changing a file cheap: what is gone is not searched for.
 */
class PathHints {
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
