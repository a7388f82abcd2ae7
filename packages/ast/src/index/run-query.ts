/**
 * Answers a compiled query: a scan over columns of numbers in the order of paths. Once the answer is full it goes on
 * counting, where marks alone do not tell how many there are.
 *
 * A pattern is tried once per different name, a glob once per file and listing; an exact name or call leads straight to
 * the files that have it. Only the facts of files with a hit are opened.
 */
import type { QueryNode } from '../contracts/code-index-contract.ts';
import { type CompiledWhere, type PathTest, typePlaceOf } from './compile-where.ts';
import type { FactsCache } from './facts-cache.ts';
import type { FactsView } from './facts-view.ts';
import { callsOf, type FileCard } from './file-card.ts';
import type { FileTable } from './file-table.ts';
import { queryNode } from './query-node.ts';
import { slices } from './time-slices.ts';

export interface QueryParts {
  readonly table: FileTable;
  readonly facts: FactsCache;
  readonly globs: GlobVerdicts;
}

export interface QueryBounds {
  readonly limit: number;
  readonly offset: number;
  readonly signal: AbortSignal | undefined;
}

export interface ScanAnswer {
  readonly nodes: QueryNode[];
  readonly truncated: boolean;
  /** Undefined when the scan ended early. */
  readonly total: number | undefined;
  /** Files whose facts were gone: read them again and ask again. */
  readonly lost: readonly string[];
}

/** Files between two looks at the clock. */
const FILES_PER_LOOK = 64;

export async function runQuery(where: CompiledWhere, bounds: QueryBounds, parts: QueryParts): Promise<ScanAnswer> {
  const scan = new Scan(where, bounds, parts);
  const pace = slices(bounds.signal);
  const { cards, from, to, matches } = candidates(where, parts);
  for (let at = from; at < to && !scan.isOver; at += FILES_PER_LOOK) {
    if (at > from && pace.isDue()) await pace.pause();
    const end = Math.min(at + FILES_PER_LOOK, to);
    for (let index = at; index < end && !scan.isOver; index++) {
      const card = cards[index];
      if (card !== undefined && matches?.has(index) !== false) scan.visit(card);
    }
  }
  return scan;
}

interface Candidates {
  /** By path. */
  readonly cards: readonly FileCard[];
  readonly from: number;
  readonly to: number;
  readonly matches: Verdicts | undefined;
}

/** The files that may have a hit. */
function candidates({ name, calls, path }: CompiledWhere, { table, globs }: QueryParts): Candidates {
  const [named, called] = [name?.literal, calls].map((text) =>
    text === undefined ? undefined : table.names.find(text),
  );
  const few =
    (named === undefined ? undefined : table.withName(named)) ??
    (called === undefined ? undefined : table.withCall(called));
  const cards = few ?? table.sorted();
  const matches = path === undefined ? undefined : globs.verdict(cards, path);
  const [from, to] = few === undefined ? table.range(path?.prefix ?? '') : [0, few.length];
  return { cards, from, to, matches };
}

class Scan implements ScanAnswer {
  readonly nodes: QueryNode[] = [];
  readonly lost: string[] = [];
  truncated = false;
  total: number | undefined = 0;
  isOver = false;
  readonly #where: CompiledWhere;
  readonly #limit: number;
  readonly #facts: FactsCache;
  readonly #table: FileTable;
  /** The name wanted, by its number; -1: any, or one that matches the pattern. */
  readonly #name: number = -1;
  readonly #pattern: Verdicts | undefined;
  readonly #calls: number = -1;
  #toSkip: number;

  constructor(where: CompiledWhere, { limit, offset }: QueryBounds, { table, facts }: QueryParts) {
    const { name, calls } = where;
    this.#where = where;
    this.#limit = limit;
    this.#toSkip = offset;
    this.#facts = facts;
    this.#table = table;
    const { names } = table;
    if (name?.literal !== undefined) this.#name = names.find(name.literal) ?? -1;
    else if (name !== undefined) this.#pattern = new Verdicts(names.size, (place) => name.test(names.text(place)));
    if (calls !== undefined) this.#calls = names.find(calls) ?? -1;
    const isNowhere = (name?.literal !== undefined && this.#name === -1) || (calls !== undefined && this.#calls === -1);
    this.isOver = isNowhere;
  }

  visit(card: FileCard): void {
    const { language } = this.#where;
    if (this.isOver || (language !== undefined && card.language !== language)) return;
    if (this.#calls !== -1 && !callsOf(card).includes(this.#calls)) return;
    const { cells, nodeCount } = card;
    const wantedName = this.#name;
    const pattern = this.#pattern;
    let opened: OpenedFile | undefined;
    for (let node = 0; node < nodeCount; node++) {
      const mark = cells[node] ?? 0;
      if (!hasMark(this.#where, mark)) continue;
      const name = cells[nodeCount + node] ?? 0;
      if (wantedName !== -1 && name !== wantedName) continue;
      if (pattern !== undefined && !pattern.has(name)) continue;
      if (this.truncated) {
        this.#count();
        continue;
      }
      opened ??= this.#open(card);
      if (opened === undefined) return;
      if (opened.accepts(node)) this.#take(opened.view, node, card);
      if (this.isOver) return;
    }
  }

  #open(card: FileCard): OpenedFile | undefined {
    const view = this.#facts.get(card);
    if (view !== undefined) return new OpenedFile(view, this.#where);
    this.lost.push(card.path);
    return undefined;
  }

  #count(): void {
    this.total = (this.total ?? 0) + 1;
  }

  #take(view: FactsView, node: number, card: FileCard): void {
    this.#count();
    if (this.#toSkip > 0) this.#toSkip -= 1;
    else if (this.nodes.length < this.#limit) this.nodes.push(queryNode(view, node, card));
    else {
      this.truncated = true;
      this.#countRest(this.#where);
    }
  }

  /** What is inside, or calls, something can be counted only by opening the facts of every file. */
  #countRest(where: CompiledWhere): void {
    const { container, calls, name, language, path } = where;
    const isUnknown = container !== undefined || calls !== undefined;
    if (!isUnknown && (name !== undefined || language !== undefined || path !== undefined)) return;
    this.total = isUnknown ? undefined : this.#table.countMarks((mark) => hasMark(where, mark));
    this.isOver = true;
  }
}

function hasMark({ mask, wanted, types }: CompiledWhere, mark: number): boolean {
  return (mark & mask) === wanted && (types === undefined || types[typePlaceOf(mark)] === 1);
}

/** What only the facts of a file can tell of its declarations. */
class OpenedFile {
  readonly view: FactsView;
  readonly #container: CompiledWhere['container'];
  readonly #callers: ReadonlySet<number> | undefined;
  /** Neighbours share their container: where it is in the text, and the result for it. */
  #lastContainer = -1;
  #lastVerdict = false;

  constructor(view: FactsView, { calls, container }: CompiledWhere) {
    this.view = view;
    this.#container = container;
    this.#callers = calls === undefined ? undefined : callersOf(calls, view);
  }

  accepts(node: number): boolean {
    if (this.#callers?.has(node) === false) return false;
    return this.#container === undefined || this.#isInside(node, this.#container);
  }

  #isInside(node: number, container: NonNullable<CompiledWhere['container']>): boolean {
    const place = this.view.number(node, 'container');
    if (place !== this.#lastContainer) {
      this.#lastContainer = place;
      this.#lastVerdict = container.test(this.view.text(node, 'container'));
    }
    return this.#lastVerdict;
  }
}

/** The declarations that hold a call of the name, at any depth. */
function callersOf(name: string, view: FactsView): Set<number> {
  const found = new Set<number>();
  for (let ref = 0; ref < view.refCount; ref++) {
    if (view.refName(ref) !== name) continue;
    for (let node = view.refNode(ref); node >= 0 && !found.has(node); node = view.number(node, 'parent'))
      found.add(node);
  }
  return found;
}

/** Which files globs match, by their place among the sorted cards; kept for as long as no file comes or goes. */
export class GlobVerdicts {
  readonly #kept = new WeakMap<readonly FileCard[], Map<string, Verdicts>>();

  verdict(cards: readonly FileCard[], { glob, test }: PathTest): Verdicts {
    const ofCards = this.#kept.get(cards) ?? new Map<string, Verdicts>();
    this.#kept.set(cards, ofCards);
    const known = ofCards.get(glob);
    if (known !== undefined) return known;
    if (ofCards.size >= MAX_GLOBS_KEPT) ofCards.clear();
    const verdicts = new Verdicts(cards.length, (place) => test(cards[place]?.path ?? ''));
    ofCards.set(glob, verdicts);
    return verdicts;
  }
}

const MAX_GLOBS_KEPT = 32;
const YES = 1;
const NO = 2;

/** Asks once per place. */
class Verdicts {
  readonly #known: Uint8Array;
  readonly #test: (place: number) => boolean;

  constructor(size: number, test: (place: number) => boolean) {
    this.#known = new Uint8Array(size);
    this.#test = test;
  }

  has(place: number): boolean {
    const known = this.#known[place];
    if (known === YES) return true;
    if (known === NO) return false;
    const verdict = this.#test(place);
    // Beyond the end lie names that came while a long query gave way to others; nothing is stored for them.
    this.#known[place] = verdict ? YES : NO;
    return verdict;
  }
}
