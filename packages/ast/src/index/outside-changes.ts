/**
 * Notices what other programs did. Folders with indexed files are watched: a question then looks at the names that the
 * kernel reported, and at everything once a minute as a safety net. Where folders cannot be watched, a question looks at
 * the stamps of all indexed files at most once a second and lists for new ones at most every ten; both take longer
 * pauses where they take longer themselves.
 */
import path from 'node:path';
import { compileGlobs, type Workspace } from '@tool-runtime/sdk';
import { statOf } from './examine-file.ts';
import { isSameStamp } from './file-card.ts';
import type { FileTable } from './file-table.ts';
import { findSources, isListed, isWanted, literalGlob, type Scope, type SourceListing } from './find-sources.ts';
import type { FolderWatch, News } from './folder-watch.ts';
import type { Indexer } from './indexer.ts';
import type { LanguageFinder } from './language-finder.ts';
import { orAborted, slices } from './time-slices.ts';

export interface OutsideParts {
  readonly workspace: Workspace;
  readonly table: FileTable;
  readonly indexer: Indexer;
  readonly languages: LanguageFinder;
  readonly watch: FolderWatch;
  scopes(): readonly Scope[];
}

export interface LookOptions {
  readonly fresh?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const SWEEP_PAUSE_MS = 1_000;
const LISTING_PAUSE_MS = 10_000;
/** Between two looks at everything while folders are watched. */
const WATCHED_PAUSE_MS = 60_000;
/** A listing that takes longer is given up: new files are then found by `generate`, or by `fresh`. */
const LISTING_MS = 500;
/** A look may take a twentieth of the time. */
const PAUSE_FACTOR = 20;
/** Listings of a new folder, until one shows no folder that is not watched. */
const ENTER_ROUNDS = 5;
const IGNORE_FILE = '.gitignore';

export class OutsideChanges {
  readonly #parts: OutsideParts;
  #running: Promise<void> | undefined;
  /** Everything was looked at while all folders were watched: the names that are reported are all there is. */
  #isExact = false;
  /** When the last look at known files, and the last one for new files, began; in milliseconds since 1970. */
  #sweptAt = Date.now();
  #listedAt = Date.now();
  #nextSweep = 0;
  #nextListing = 0;

  constructor(parts: OutsideParts) {
    this.#parts = parts;
  }

  /** Changes until then are seen, in milliseconds since 1970; a generation is a look too. */
  get lookedAt(): number {
    return Math.min(this.#sweptAt, this.#listedAt);
  }

  /** The next look lists too: what is ignored may have changed. */
  expectNewFiles(): void {
    this.#nextListing = 0;
  }

  /** Another caller listed and looked, from this time on. Folders of a new scope are not watched yet. */
  listed(began: number): void {
    this.#seen(began);
    this.#isExact = false;
    this.#nextListing = this.#parts.watch.isOn ? 0 : performance.now() + LISTING_PAUSE_MS;
  }

  /** True when nothing has to be looked at now. Where folders are watched only `bringIn` can tell. */
  isQuiet(): boolean {
    return !this.#isWatching() && this.#running === undefined && !this.#isDue();
  }

  async bringIn({ fresh, signal }: LookOptions): Promise<void> {
    // A look that began earlier may have passed the file that changed since.
    if (fresh === true && this.#running !== undefined) await orAborted(this.#running, signal);
    if (fresh !== true && (this.isQuiet() || (await this.#hearsNothing()))) return;
    this.#running ??= this.#look(fresh === true).finally(() => {
      this.#running = undefined;
    });
    await orAborted(this.#running, signal);
  }

  #isWatching(): boolean {
    return this.#isExact && this.#parts.watch.isOn;
  }

  #isDue(): boolean {
    return performance.now() >= Math.min(this.#nextSweep, this.#nextListing);
  }

  #seen(began: number): void {
    this.#sweptAt = began;
    this.#listedAt = began;
  }

  async #hearsNothing(): Promise<boolean> {
    if (!this.#isWatching()) return false;
    const began = Date.now();
    await this.#parts.watch.listen();
    const isNothing = this.#running === undefined && this.#isWatching() && !this.#parts.watch.hasNews && !this.#isDue();
    if (isNothing) this.#seen(began);
    return isNothing;
  }

  async #look(isForced: boolean): Promise<void> {
    const { watch } = this.#parts;
    const began = Date.now();
    if (watch.isOn) await watch.listen();
    const news = watch.take();
    const isAll = isForced || !this.#isWatching() || news.isFlooded || hasIgnoreFile(news) || this.#isDue();
    try {
      if (isAll) return await this.#lookAtAll({ isForced, isListing: isForced || this.#isExact }, began);
      await this.#follow(news.names);
      this.#seen(began);
    } catch (thrown) {
      watch.putBack(news);
      throw thrown;
    }
  }

  /** Folders first, then files: what changes in a watched folder after its files were looked at is reported. */
  async #lookAtAll(
    { isForced, ...wanted }: { readonly isForced: boolean; readonly isListing: boolean },
    began: number,
  ): Promise<void> {
    const { watch } = this.#parts;
    const start = performance.now();
    const isListing = wanted.isListing || start >= this.#nextListing;
    let listed = isListing ? await this.#listAll(isForced) : undefined;
    const added = this.#watchFolders(listed);
    if (isListing || start >= this.#nextSweep) {
      await this.#sweep();
      this.#sweptAt = began;
      this.#nextSweep = pausedUntil(start, SWEEP_PAUSE_MS);
    }
    if (!isListing) return;
    if (added > 0) listed = await this.#listAll(isForced);
    if (listed !== undefined) this.#listedAt = began;
    this.#isExact = listed !== undefined && this.#watchFolders(listed) === 0 && watch.isOn;
    this.#nextListing = pausedUntil(start, this.#isExact ? WATCHED_PAUSE_MS : LISTING_PAUSE_MS);
    if (this.#isExact) this.#nextSweep = this.#nextListing;
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

  /** Brings in what the scopes have; answers their folders. Undefined when it takes too long. */
  async #listAll(isForced: boolean): Promise<readonly string[] | undefined> {
    const { table, indexer } = this.#parts;
    const folders: string[] = [];
    for (const scope of this.#parts.scopes()) {
      const signal = isForced ? undefined : AbortSignal.timeout(LISTING_MS);
      const asOf = indexer.mark();
      try {
        const listing = await findSources(scope, this.#parts, signal);
        folders.push(...listing.folders);
        dropUnlisted(scope, { listing, asOf }, this.#parts);
        const added = listing.paths.filter((name) => table.get(name) === undefined);
        if (added.length > 0) await indexer.run(added);
      } catch (thrown) {
        if (signal?.aborted !== true) throw thrown;
        return undefined;
      }
    }
    return folders;
  }

  /** Also those of files that are known although no scope has them. Answers how many are new. */
  #watchFolders(listed: readonly string[] | undefined): number {
    const { watch, table } = this.#parts;
    return listed === undefined ? 0 : watch.add([...listed, ...table.sorted().map(({ path: file }) => folderOf(file))]);
  }

  /** Looks at the names that were reported, and at all below those that are folders now or were. */
  async #follow(names: ReadonlySet<string>): Promise<void> {
    const { table, indexer, workspace } = this.#parts;
    const [known, listed] = [new Set<string>(), new Set<string>()];
    for (const name of names) {
      const stat = await statOf(workspace, name);
      if (stat?.type === 'directory') for (const below of await this.#enter(name)) listed.add(below);
      if (stat?.type === 'file' || table.get(name) !== undefined) known.add(name);
      else for (const card of table.below(name)) known.add(card.path);
    }
    const isInScope = scopeTest(this.#parts);
    await indexer.run([...known.union(listed)], {
      belongs: async (name) => (await isInScope(name)) && (listed.has(name) || isListed(name, workspace)),
    });
  }

  /** The sources in a folder that is new or was replaced, listed while all folders in it were watched. */
  async #enter(folder: string): Promise<readonly string[]> {
    const { watch } = this.#parts;
    const name = literalGlob(folder);
    const globs = folder === '' ? [] : [name, `${name}/**`];
    for (let round = 1; ; round++) {
      const scope = { globs, language: undefined, maxFiles: Number.MAX_SAFE_INTEGER };
      const { paths, folders } = await findSources(scope, this.#parts, undefined);
      if (watch.add(folders) === 0) return paths;
      if (round < ENTER_ROUNDS) continue;
      this.#isExact = false;
      return paths;
    }
  }
}

/** Whether someone asked for files like this one. */
function scopeTest(parts: OutsideParts): (name: string) => Promise<boolean> {
  const tests = parts.scopes().map(({ globs, language }) => ({ isIn: matcher(globs), language }));
  return async (name) => {
    for (const { isIn, language } of tests) if (isIn(name) && (await isWanted(name, language, parts))) return true;
    return false;
  };
}

function matcher(globs: readonly string[]): (name: string) => boolean {
  return globs.length === 0 ? () => true : compileGlobs(globs);
}

function hasIgnoreFile({ names }: News): boolean {
  for (const name of names) if (path.posix.basename(name) === IGNORE_FILE) return true;
  return false;
}

function folderOf(file: string): string {
  return file.slice(0, Math.max(file.lastIndexOf('/'), 0));
}

/** Drops the files of a scope that a listing does not show any more. `asOf` is the indexer's mark before the listing. */
export function dropUnlisted(
  scope: Scope,
  { listing, asOf }: { readonly listing: SourceListing; readonly asOf: number },
  { table, indexer }: Pick<OutsideParts, 'table' | 'indexer'>,
): void {
  if (listing.truncated) return;
  const shown = new Set(listing.paths);
  const isInScope = matcher(scope.globs);
  for (const { path: name, language } of [...table.sorted()]) {
    if (shown.has(name) || (scope.language !== undefined && scope.language !== language)) continue;
    if (isInScope(name)) indexer.remove(name, asOf);
  }
}

function pausedUntil(start: number, leastMs: number): number {
  const end = performance.now();
  return end + Math.max(leastMs, (end - start) * PAUSE_FACTOR);
}
