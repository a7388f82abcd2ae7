/**
 * Notices what other programs did: a look at the stamps of all indexed files at most once a second, a listing for new
 * ones at most every ten. Both take longer pauses where they take longer themselves.
 */
import { compileGlobs, type Workspace } from '@tool-runtime/sdk';
import { statOf } from './examine-file.ts';
import { isSameStamp } from './file-card.ts';
import type { FileTable } from './file-table.ts';
import { findSources, type Scope, type SourceListing } from './find-sources.ts';
import type { Indexer } from './indexer.ts';
import type { LanguageFinder } from './language-finder.ts';
import { orAborted, slices } from './time-slices.ts';

export interface OutsideParts {
  readonly workspace: Workspace;
  readonly table: FileTable;
  readonly indexer: Indexer;
  readonly languages: LanguageFinder;
  scopes(): readonly Scope[];
}

export interface LookOptions {
  readonly fresh?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const SWEEP_PAUSE_MS = 1_000;
const LISTING_PAUSE_MS = 10_000;
/** A listing that takes longer is given up: new files are then found by `generate`, or by `fresh`. */
const LISTING_MS = 500;
/** A look may take a twentieth of the time. */
const PAUSE_FACTOR = 20;

export class OutsideChanges {
  readonly #parts: OutsideParts;
  #running: Promise<void> | undefined;
  /** When the last look began, in milliseconds since 1970; a generation is one too. */
  lookedAt = Date.now();
  #nextSweep = 0;
  #nextListing = 0;

  constructor(parts: OutsideParts) {
    this.#parts = parts;
  }

  /** The next look lists too: what is ignored may have changed. */
  expectNewFiles(): void {
    this.#nextListing = 0;
  }

  /** Another caller listed and looked, from this time on. */
  listed(began: number): void {
    this.lookedAt = began;
    this.#nextListing = performance.now() + LISTING_PAUSE_MS;
  }

  /** True when nothing has to be looked at now. */
  isQuiet(): boolean {
    return this.#running === undefined && performance.now() < Math.min(this.#nextSweep, this.#nextListing);
  }

  async bringIn({ fresh, signal }: LookOptions): Promise<void> {
    // A look that began earlier may have passed the file that changed since.
    if (fresh === true && this.#running !== undefined) await orAborted(this.#running, signal);
    if (fresh !== true && this.isQuiet()) return;
    this.#running ??= this.#look(fresh === true).finally(() => {
      this.#running = undefined;
    });
    await orAborted(this.#running, signal);
  }

  async #look(isForced: boolean): Promise<void> {
    const start = performance.now();
    const began = Date.now();
    if (isForced || start >= this.#nextSweep) {
      await this.#sweep();
      this.lookedAt = began;
      this.#nextSweep = pausedUntil(start, SWEEP_PAUSE_MS);
    }
    const listingStart = performance.now();
    if (isForced || listingStart >= this.#nextListing) {
      await this.#list(isForced);
      this.#nextListing = pausedUntil(listingStart, LISTING_PAUSE_MS);
    }
  }

  async #sweep(): Promise<void> {
    const { table, workspace, languages, indexer } = this.#parts;
    const pace = slices();
    const changed: string[] = [];
    for (const card of table.sorted()) {
      if (pace.isDue()) await pace.pause();
      const stat = await statOf(workspace, card.path);
      const isSame = stat !== null && isSameStamp(card.stamp, stat);
      if (!isSame || card.parser !== languages.parserKey(card.language)) changed.push(card.path);
    }
    if (changed.length > 0) await indexer.run(changed);
  }

  async #list(isForced: boolean): Promise<void> {
    for (const scope of this.#parts.scopes()) {
      const signal = isForced ? undefined : AbortSignal.timeout(LISTING_MS);
      const asOf = this.#parts.indexer.mark();
      try {
        await this.#follow(scope, await findSources(scope, this.#parts, signal), asOf);
      } catch (thrown) {
        if (signal?.aborted !== true) throw thrown;
      }
    }
  }

  async #follow(scope: Scope, listing: SourceListing, asOf: number): Promise<void> {
    const { table, indexer } = this.#parts;
    const added = listing.paths.filter((path) => table.get(path) === undefined);
    dropUnlisted(scope, { listing, asOf }, this.#parts);
    if (added.length > 0) await indexer.run(added);
  }
}

/** Drops the files of a scope that a listing does not show any more. `asOf` is the indexer's mark before the listing. */
export function dropUnlisted(
  scope: Scope,
  { listing, asOf }: { readonly listing: SourceListing; readonly asOf: number },
  { table, indexer }: Pick<OutsideParts, 'table' | 'indexer'>,
): void {
  if (listing.truncated) return;
  const shown = new Set(listing.paths);
  const isInScope = scope.globs.length === 0 ? () => true : compileGlobs(scope.globs);
  for (const { path, language } of [...table.sorted()]) {
    if (shown.has(path) || (scope.language !== undefined && scope.language !== language)) continue;
    if (isInScope(path)) indexer.remove(path, asOf);
  }
}

function pausedUntil(start: number, leastMs: number): number {
  const end = performance.now();
  return end + Math.max(leastMs, (end - start) * PAUSE_FACTOR);
}
