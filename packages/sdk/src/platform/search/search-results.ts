/** What a search has found so far, kept by file; the answer is put in order at the end. */
import type { FileCount, SearchAnswer, SearchMatch, SearchQuery } from '../../contracts/search.ts';
import type { FoundFile, FoundLine } from './search-output.ts';

const NO_LINES: readonly string[] = [];

export class SearchResults {
  readonly #query: SearchQuery;
  readonly #matches = new Map<string, readonly SearchMatch[]>();
  readonly #counts = new Map<string, number>();
  #total = 0;

  constructor(query: SearchQuery) {
    this.#query = query;
  }

  /** One more than asked for has been found, together with `pending` matches that are not added yet. */
  isOver(pending: number): boolean {
    return this.#total + pending > this.#query.maxResults;
  }

  add(file: FoundFile): void {
    if (file.matchCount === 0) return;
    if (this.#query.report === 'counts') this.#addCount(file);
    else {
      this.#matches.set(file.path, matchesOf(file, this.#query.context));
      this.#total += file.matchCount;
    }
  }

  answer({ interrupted }: { readonly interrupted: boolean }): SearchAnswer {
    const { maxResults } = this.#query;
    const matches = sortedKeys(this.#matches).flatMap((file) => this.#matches.get(file) ?? []);
    const counts = sortedKeys(this.#counts).map((file): FileCount => ({ file, count: this.#counts.get(file) ?? 0 }));
    return {
      matches: matches.slice(0, maxResults),
      counts: counts.slice(0, maxResults),
      truncated: this.isOver(0),
      interrupted,
    };
  }

  #addCount({ path, matchCount }: FoundFile): void {
    const known = this.#counts.get(path);
    if (known === undefined) this.#total += 1;
    this.#counts.set(path, (known ?? 0) + matchCount);
  }
}

function sortedKeys(byFile: ReadonlyMap<string, unknown>): readonly string[] {
  return [...byFile.keys()].sort();
}

function matchesOf({ path, lines }: FoundFile, context: number): readonly SearchMatch[] {
  const matches: SearchMatch[] = [];
  for (const [at, { number, byteColumn, column, text, cut }] of lines.entries()) {
    if (byteColumn === 0) continue;
    const before = context === 0 ? NO_LINES : neighbours(lines, at, { context, step: -1 });
    const after = context === 0 ? NO_LINES : neighbours(lines, at, { context, step: 1 });
    matches.push({ file: path, line: number, column, text, cut, before, after });
  }
  return matches;
}

/** Up to `context` lines next to a line, as far as they follow each other without a gap. */
function neighbours(
  lines: readonly FoundLine[],
  at: number,
  { context, step }: { readonly context: number; readonly step: 1 | -1 },
): readonly string[] {
  const found: string[] = [];
  const own = lines[at]?.number ?? 0;
  for (let distance = 1; distance <= context; distance++) {
    const line = lines[at + distance * step];
    if (line?.number !== own + distance * step) break;
    found.push(line.text);
  }
  return step < 0 ? found.reverse() : found;
}
