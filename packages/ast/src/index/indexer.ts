/**
 * Brings files and rows in line: looks at each path, has parsed what changed, and puts the outcome into table and store.
 * Runs may overlap: content read later wins, whichever parse ends first.
 */
import { crc32 } from 'node:zlib';
import type { Workspace } from '@tool-runtime/sdk';
import type { SkipReason } from '../contracts/code-index-contract.ts';
import type { Problems } from '../symbols/read-problems.ts';
import { type Examined, examineFile, type FoundContent } from './examine-file.ts';
import type { FactsCache } from './facts-cache.ts';
import { FactsView } from './facts-view.ts';
import { type FileCard, NO_COLUMNS } from './file-card.ts';
import type { FileTable } from './file-table.ts';
import type { LanguageFinder } from './language-finder.ts';
import { overlap } from './overlap.ts';
import type { ParseStation, UnreadFacts } from './parse-station.ts';
import { PendingFacts, type PendingFile } from './pending-facts.ts';
import type { RecordStore } from './record-store.ts';
import { skipByName } from './skip-by-name.ts';
import { unpackColumns } from './stored-columns.ts';
import { throwIfAborted } from './time-slices.ts';
import { indexClosed } from './worker/index-closed.ts';
import type { ParseJob, ParseOutcome } from './worker/parse-outcome.ts';

export interface IndexerParts {
  readonly workspace: Workspace;
  readonly table: FileTable;
  readonly store: RecordStore;
  readonly facts: FactsCache;
  readonly languages: LanguageFinder;
  readonly station: ParseStation;
}

export interface RunOptions {
  /** `stamp` trusts size and time, `content` reads the file in any case, `parse` also parses it in any case. */
  readonly look?: 'stamp' | 'content' | 'parse';
  readonly signal?: AbortSignal | undefined;
  /** Parses a few files only, and leaves their facts for `settle`. */
  readonly isDeferred?: boolean;
  /** Asked about files that are new: whether they belong into the index. */
  belongs?(path: string): Promise<boolean>;
  onProgress?(done: number): void;
}

export interface RunReport {
  parsed: number;
  unchanged: number;
  readonly skipped: { readonly path: string; readonly reason: SkipReason }[];
}

/** Up to so many files are not worth the start of a process. */
const FEW_FILES = 8;
/** Rows that may wait for the disk before a run waits too. */
const MAX_PENDING_ROWS = 200;
/** Judgements that pass by themselves are not remembered. */
const PASSING: readonly SkipReason[] = ['unreadable', 'grammar_refused', 'minified', 'generated'];
const NOTHING_PACKED = { packed: new Uint8Array(0), columns: new Uint8Array(0) };
/** The checksum of no facts at all. */
const NO_CRC = -1;

interface StoreOptions {
  readonly problemsBefore: number | undefined;
  readonly isBulk: boolean;
}

interface Run extends RunOptions {
  readonly isBulk: boolean;
  readonly report: RunReport;
}

export class Indexer {
  readonly #parts: IndexerParts;
  readonly #pending = new PendingFacts((path, file) => this.#settleFile(path, file));
  #tickets = 0;
  /** When files were found gone, for as long as older content may still be in the works. */
  readonly #gone = new Map<string, number>();
  #inWork = 0;
  readonly #runs = new Set<Promise<void>>();
  #isClosing = false;

  constructor(parts: IndexerParts) {
    this.#parts = parts;
    parts.station.onEviction((path) => this.#pending.settleOne(path));
  }

  /** The rows of these files are current when it resolves. Throws the signal's reason; what was done until then stays. */
  async run(paths: readonly string[], options: RunOptions = {}): Promise<RunReport> {
    const run: Run = {
      ...options,
      isBulk: paths.length > FEW_FILES,
      report: { parsed: 0, unchanged: 0, skipped: [] },
    };
    throwIfAborted(run.signal);
    const work = this.#run(paths, run);
    this.#runs.add(work);
    try {
      await work;
    } finally {
      this.#runs.delete(work);
    }
    return run.report;
  }

  /** Ends runs at their next file, waits for them, and reads the facts that wait. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#runs);
    this.#pending.close();
  }

  /** The rows of all files are those of their last content that was brought in. */
  async settle(signal?: AbortSignal): Promise<void> {
    const lost = await this.#pending.settleAll(signal);
    if (lost.length > 0) await this.run(lost, { look: 'parse', signal });
  }

  /** Likewise for one file, or for all, without waiting. False when something must be parsed again first. */
  settleNow(path?: string): boolean {
    return path === undefined ? this.#pending.settleNow() : this.#pending.settleOne(path);
  }

  /** Of a file whose facts are still to be read. */
  pendingProblems(path: string): Problems | undefined {
    return this.#pending.problems(path);
  }

  /** Parses a file for one answer, whether it belongs into the index or not. Undefined when it is no source file. */
  async glimpse(path: string, signal?: AbortSignal): Promise<(ParseOutcome & { language: string }) | undefined> {
    const found = await this.#examine(path, undefined);
    if (found.is === 'skipped') return { skipped: found.reason, language: found.content?.language ?? '' };
    if (found.is !== 'content') return undefined;
    const { language } = found.content;
    return { ...(await this.#parts.station.parse(found.content, { isBulk: false, signal })), language };
  }

  /** Stands for all that was read until now. */
  mark(): number {
    return ++this.#tickets;
  }

  /** Drops the rows of a file, unless its content was read after `asOf`. */
  remove(path: string, asOf: number): void {
    this.#drop(path, asOf);
  }

  async #run(paths: readonly string[], run: Run): Promise<void> {
    const { station, store } = this.#parts;
    let done = 0;
    const syncOne = async (path: string) => {
      await this.#sync(path, run);
      run.onProgress?.(++done);
    };
    const room = async () => {
      await station.room();
      if (store.pendingRows > MAX_PENDING_ROWS) await store.flush();
    };
    if (run.isBulk) await overlap(paths, { work: syncOne, room, signal: run.signal });
    else for (const path of paths) await syncOne(path);
  }

  async #sync(path: string, run: Run): Promise<void> {
    if (this.#isClosing) throw indexClosed();
    const named = this.#parts.languages.byName(path) === undefined ? undefined : skipByName(path);
    if (named !== undefined) return this.#skip(path, named, run);
    this.#inWork += 1;
    try {
      const before = this.#parts.table.get(path);
      const found = await this.#examine(path, (run.look ?? 'stamp') === 'stamp' ? before : undefined);
      const isSource = found.is === 'content' || found.is === 'skipped';
      if (isSource && before === undefined && (await run.belongs?.(path)) === false) return;
      await this.#follow(path, found, run);
    } finally {
      this.#inWork -= 1;
      if (this.#inWork === 0) this.#gone.clear();
    }
  }

  #examine(path: string, card: FileCard | undefined): Promise<Examined> {
    const { workspace, languages } = this.#parts;
    return examineFile(path, card, { workspace, languages, ticket: () => ++this.#tickets });
  }

  async #follow(path: string, found: Examined, run: Run): Promise<void> {
    if (found.is === 'absent') {
      this.#drop(path, found.ticket);
    } else if (found.is === 'untouched') {
      count(run.report, found.card);
    } else if (found.is === 'unchanged') {
      found.card.stamp = found.stamp;
      found.card.ticket = Math.max(found.card.ticket, found.ticket);
      // The stored row of a file that waits is about older content.
      if (!this.#pending.has(path)) this.#parts.store.touch(path, found.stamp);
      count(run.report, found.card);
    } else if (found.is === 'content') {
      await this.#parse(found.content, run);
    } else if (found.content === undefined) {
      this.#skip(path, found.reason, run);
    } else {
      this.#absorb(found.content, { skipped: found.reason }, run);
    }
  }

  async #parse(content: FoundContent, run: Run): Promise<void> {
    const { table, station } = this.#parts;
    if (run.look !== 'parse' && this.#adopt(content)) {
      run.report.unchanged += 1;
      return;
    }
    const { path, language, bytes } = content;
    const isDeferred = run.isDeferred === true && !run.isBulk;
    // The first rows of a file give its twins their ids, so that version is not skipped over.
    if (this.#pending.isFirst(path)) this.#pending.settleOne(path);
    const earlier = this.#earlier(path, table.get(path));
    const job: ParseJob = { path, language, bytes, earlier };
    const outcome = isDeferred
      ? await station.parseOnly(job, run.signal)
      : await station.parse(job, { isBulk: run.isBulk, signal: run.signal });
    if ('unread' in outcome) this.#postpone(content, outcome.unread, run);
    else if ('skipped' in outcome && PASSING.includes(outcome.skipped)) this.#skip(content.path, outcome.skipped, run);
    else this.#absorb(content, outcome, run);
  }

  /** The facts read last, in which twins are looked up. */
  #earlier(path: string, card: FileCard | undefined): Uint8Array | undefined {
    const base = this.#pending.baseOf(path, card);
    return base === undefined || base.skip !== undefined ? undefined : this.#parts.facts.get(base)?.bytes;
  }

  /** Takes over rows that another process on the same folder made of the same content. */
  #adopt({ path, sha256, parser, stamp, ticket }: FoundContent): boolean {
    const { store, table } = this.#parts;
    if (store.storage === 'memory') return false;
    const stored = store.find(path);
    if (stored?.sha256 !== sha256 || stored.parser !== parser || stored.skip !== undefined) return false;
    if (store.facts(path, stored.crc) === undefined) return false;
    const { columns, ...row } = stored;
    const problemsBefore = table.get(path)?.problemCount;
    table.put({ ...unpackColumns(columns, table.names), ...row, stamp, ticket, problemsBefore });
    this.#pending.drop(path);
    store.touch(path, stamp);
    return true;
  }

  #postpone({ bytes: _, ...found }: FoundContent, unread: UnreadFacts, run: Run): void {
    const { table } = this.#parts;
    const before = table.get(found.path);
    if (this.#isOutdated(found.path, found.ticket)) return;
    const base = this.#pending.baseOf(found.path, before);
    const shown = base?.skip === undefined ? base : undefined;
    // Of a version that no one asked about the problems alone are kept, not its card, which has those before it.
    const last = this.#pending.problems(found.path) ?? before;
    table.put({
      ...(shown ?? { ...NO_COLUMNS, crc: NO_CRC }),
      ...{ ...found, skip: undefined },
      get problemCount() {
        return unread.problems.problemCount;
      },
      get problemsBefore() {
        return last?.problemCount;
      },
    });
    this.#pending.put(found.path, { unread, base });
    run.report.parsed += 1;
  }

  #settleFile(path: string, { unread, base }: PendingFile): boolean {
    const card = this.#parts.table.get(path);
    const outcome = unread.read(this.#earlier(path, base));
    if (card === undefined || outcome === undefined) return card === undefined;
    const { language, parser, sha256, stamp, ticket, problemsBefore } = card;
    this.#store({ path, language, parser, sha256, stamp, ticket }, outcome, { problemsBefore, isBulk: false });
    return true;
  }

  #isOutdated(path: string, ticket: number): boolean {
    return Math.max(this.#parts.table.get(path)?.ticket ?? 0, this.#gone.get(path) ?? 0) > ticket;
  }

  #absorb(content: FoundContent, outcome: ParseOutcome, run: Run): void {
    const { bytes: _, ...found } = content;
    if (this.#isOutdated(found.path, found.ticket)) return;
    const problemsBefore = this.#parts.table.get(found.path)?.problemCount;
    this.#store(found, outcome, { problemsBefore, isBulk: run.isBulk });
    if ('skipped' in outcome) run.report.skipped.push({ path: found.path, reason: outcome.skipped });
    else run.report.parsed += 1;
  }

  /** Facts of a bulk run are not kept in memory: most of them are never asked about. */
  #store(found: Omit<FoundContent, 'bytes'>, outcome: ParseOutcome, { problemsBefore, isBulk }: StoreOptions): void {
    const { table, store, facts } = this.#parts;
    const skip = 'skipped' in outcome ? outcome.skipped : undefined;
    const { packed, columns } = 'skipped' in outcome ? NOTHING_PACKED : outcome;
    const crc = crc32(packed);
    this.#pending.drop(found.path);
    const slabs = isBulk ? table.slabs : undefined;
    const read = skip === undefined ? unpackColumns(columns, table.names, slabs) : NO_COLUMNS;
    table.put({ ...read, ...found, skip, crc, problemsBefore });
    if (skip !== undefined || isBulk) facts.drop(found.path);
    else facts.put(found.path, crc, new FactsView(packed));
    store.put({ ...found, skip, crc, facts: packed, columns });
  }

  #skip(path: string, reason: SkipReason, run: Run): void {
    this.#drop(path, ++this.#tickets);
    run.report.skipped.push({ path, reason });
  }

  #drop(path: string, ticket: number): void {
    const { table, store, facts, station } = this.#parts;
    if ((table.get(path)?.ticket ?? 0) > ticket) return;
    if (this.#inWork > 0) this.#gone.set(path, ticket);
    this.#pending.drop(path);
    if (!table.remove(path)) return;
    facts.drop(path);
    station.forget(path);
    store.remove(path);
  }
}

function count(report: RunReport, card: FileCard): void {
  if (card.skip === undefined) report.unchanged += 1;
  else report.skipped.push({ path: card.path, reason: card.skip });
}
