/** The cards of all indexed files: by path, in the order of paths, and by the ids, names and calls they have. */
import { CellSlabs } from './cell-slabs.ts';
import { callsOf, type FileCard, idsOf, namesOf } from './file-card.ts';
import { NameTable } from './name-table.ts';

/** Hints about what is gone are tolerated until they are as many as those that hold, and this many more. */
const SPARE_HINTS = 10_000;

export class FileTable {
  readonly names = new NameTable();
  /** For files that come in by the thousand. */
  readonly slabs = new CellSlabs();
  readonly #numbers = new Map<string, number>();
  /** By number; undefined: gone. */
  #cards: (FileCard | undefined)[] = [];
  #hints = createHints();
  /** Pairs the hints would have if they were made now, and a few more. */
  #pairs = 0;
  /** Without entries added since, with entries removed since. */
  #sorted: FileCard[] = [];
  #came = new Set<string>();
  #went = 0;
  #nodes = 0;
  /** How many declarations of all files have each mark. */
  readonly #marks = new Map<number, number>();

  get size(): number {
    return this.#numbers.size;
  }

  get nodeCount(): number {
    return this.#nodes;
  }

  get(path: string): FileCard | undefined {
    const number = this.#numbers.get(path);
    return number === undefined ? undefined : this.#cards[number];
  }

  put(card: FileCard): void {
    const known = this.#numbers.get(card.path);
    const number = known ?? this.#cards.length;
    const before = known === undefined ? undefined : this.#cards[known];
    this.#numbers.set(card.path, number);
    this.#cards[number] = card;
    this.#count(card, 1);
    if (before !== undefined) this.#count(before, -1);
    if (before === undefined) this.#came.add(card.path);
    else if (!this.#came.has(card.path)) this.#sorted[firstNotBelow(this.#sorted, card.path)] = card;
    this.#hint(number, card, before);
    if (this.hintCount > 2 * this.#pairs + SPARE_HINTS) this.#hintAnew();
  }

  remove(path: string): boolean {
    const number = this.#numbers.get(path);
    const card = number === undefined ? undefined : this.#cards[number];
    if (number === undefined || card === undefined) return false;
    this.#numbers.delete(path);
    this.#cards[number] = undefined;
    this.#count(card, -1);
    this.#went += 1;
    return true;
  }

  /** By path. The array is replaced when a file comes or goes; until then its slots follow the files' newest cards. */
  sorted(): readonly FileCard[] {
    if (this.#came.size === 0 && this.#went === 0) return this.#sorted;
    const came = [...this.#came].map((path) => this.get(path)).filter((card) => card !== undefined);
    const stayed = this.#sorted.filter(({ path }) => this.#numbers.has(path) && !this.#came.has(path));
    this.#sorted = merge(stayed, came.sort(byPath));
    this.#came = new Set();
    this.#went = 0;
    return this.#sorted;
  }

  /** The cards of the files in a folder and in those below it; `.` or nothing: all. */
  below(folder: string): readonly FileCard[] {
    return this.sorted().slice(...this.range(folder === '' || folder === '.' ? '' : `${folder}/`));
  }

  /** Place of the first card whose path begins so, and the place after the last. */
  range(prefix: string): readonly [number, number] {
    const cards = this.sorted();
    const end = prefix === '' ? cards.length : firstNotBelow(cards, `${prefix}\uffff`);
    return [firstNotBelow(cards, prefix), end];
  }

  /** Files that may have a declaration with this key of an id. */
  withId(key: number): readonly FileCard[] {
    return this.#found(this.#hints.ids, key);
  }

  /** Files that may declare this name, by path; undefined when they are so many that looking at all costs no more. */
  withName(name: number): readonly FileCard[] | undefined {
    return this.#few(this.#hints.names, name);
  }

  /** Likewise for files that may call it. */
  withCall(name: number): readonly FileCard[] | undefined {
    return this.#few(this.#hints.calls, name);
  }

  #few(hints: FileHints, key: number): readonly FileCard[] | undefined {
    return hints.countOf(key) > this.#numbers.size / 8 + 8 ? undefined : this.#found(hints, key);
  }

  #found(hints: FileHints, key: number): readonly FileCard[] {
    const cards: FileCard[] = [];
    for (const number of hints.filesOf(key)) {
      const card = this.#cards[number];
      if (card !== undefined) cards.push(card);
    }
    return cards.sort(byPath);
  }

  /** Declarations whose mark is wanted, without a look at the files. */
  countMarks(isWanted: (mark: number) => boolean): number {
    let count = 0;
    for (const [mark, some] of this.#marks) if (isWanted(mark)) count += some;
    return count;
  }

  #count({ cells, nodeCount, callCount }: FileCard, sign: 1 | -1): void {
    for (let node = 0; node < nodeCount; node++) {
      const mark = cells[node] ?? 0;
      this.#marks.set(mark, (this.#marks.get(mark) ?? 0) + sign);
    }
    this.#nodes += sign * nodeCount;
    this.#pairs += sign * (2 * nodeCount + callCount);
  }

  /** Pairs of a key and a file, with those that are gone. */
  get hintCount(): number {
    const { ids, names, calls } = this.#hints;
    return ids.size + names.size + calls.size;
  }

  /** What the file had before is known of it already. */
  #hint(number: number, card: FileCard, before: FileCard | undefined): void {
    const { ids, names, calls } = this.#hints;
    for (const [hints, read] of [[ids, idsOf] as const, [names, namesOf] as const, [calls, callsOf] as const]) {
      const known = before === undefined ? undefined : new Set(read(before));
      for (const key of read(card)) if (known?.has(key) !== true) hints.add(key, number);
    }
  }

  #hintAnew(): void {
    this.#cards = this.#cards.filter((card) => card !== undefined);
    this.#hints = createHints();
    for (const [number, card] of this.#cards.entries()) {
      if (card === undefined) continue;
      this.#numbers.set(card.path, number);
      this.#hint(number, card, undefined);
    }
  }
}

function createHints() {
  return { ids: new FileHints(), names: new FileHints(), calls: new FileHints() };
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

const EMPTY = 0;
const FIRST_SLOTS = 1024;

/**
 * Says in which files something was seen, by numbers. Never wrong about a file that has it; files that lost it since may
 * still be named, so callers check. That keeps changing a file cheap: what is gone is not searched for.
 *
 * A hash table of lists in flat arrays: a pair takes twelve bytes, where maps and sets of strings take eighty.
 */
class FileHints {
  /** Each key plus one; then where its list begins, plus one, and how long it is. */
  #keys = new Uint32Array(FIRST_SLOTS);
  #heads = new Uint32Array(FIRST_SLOTS);
  #counts = new Uint32Array(FIRST_SLOTS);
  #used = 0;
  #files = new Uint32Array(FIRST_SLOTS);
  #next = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  /** Pairs of key and file. */
  get size(): number {
    return this.#size;
  }

  /** Files are added one after the other, so a pair of this file is the first in its list. */
  add(key: number, file: number): void {
    if (2 * this.#used >= this.#keys.length) this.#widen();
    const slot = this.#slotOf(key);
    const head = this.#heads[slot] ?? 0;
    if (head !== 0 && this.#files[head - 1] === file) return;
    if (this.#keys[slot] === EMPTY) this.#used += 1;
    this.#keys[slot] = key + 1;
    if (this.#size === this.#files.length) {
      this.#files = doubled(this.#files);
      this.#next = doubled(this.#next);
    }
    this.#files[this.#size] = file;
    this.#next[this.#size] = head;
    this.#size += 1;
    this.#heads[slot] = this.#size;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
  }

  countOf(key: number): number {
    return this.#counts[this.#slotOf(key)] ?? 0;
  }

  /** In no order, each once. */
  filesOf(key: number): ReadonlySet<number> {
    const found = new Set<number>();
    for (let at = this.#heads[this.#slotOf(key)] ?? 0; at !== 0; at = this.#next[at - 1] ?? 0) {
      found.add(this.#files[at - 1] ?? 0);
    }
    return found;
  }

  /** Where the key is, or would be. */
  #slotOf(key: number): number {
    const mask = this.#keys.length - 1;
    let slot = (Math.imul(key, 0x9e3779b1) >>> 7) & mask;
    while (this.#keys[slot] !== EMPTY && this.#keys[slot] !== key + 1) slot = (slot + 1) & mask;
    return slot;
  }

  #widen(): void {
    const [keys, heads, counts] = [this.#keys, this.#heads, this.#counts];
    const slots = 2 * keys.length;
    this.#keys = new Uint32Array(slots);
    this.#heads = new Uint32Array(slots);
    this.#counts = new Uint32Array(slots);
    // By place: an iterator makes an object of every slot.
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] ?? EMPTY;
      if (key === EMPTY) continue;
      const slot = this.#slotOf(key - 1);
      this.#keys[slot] = key;
      this.#heads[slot] = heads[at] ?? 0;
      this.#counts[slot] = counts[at] ?? 0;
    }
  }
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length);
  larger.set(array);
  return larger;
}
