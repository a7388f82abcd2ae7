/**
 * The code index of one workspace: every declaration, call and import, by file, kept in line with the files.
 *
 * What a query compares stays in memory as columns of numbers, about ten bytes a declaration; all else lies as one block
 * per file in SQLite, read when an answer needs it. Measured against one row per declaration this is what holds the
 * budgets (200 answers in 0.2 ms, a sync in 0.5 ms): see record-store.ts. Reads and writes of the database happen on
 * the calling thread in slices of three milliseconds; bulk parsing in processes of its own.
 */
import type { FileChange, Violation } from '@tool-runtime/sdk';
import type {
  CodeIndex,
  CodeIndexOptions,
  FileRow,
  FoundNode,
  FreshOptions,
  GenerateOptions,
  GenerateReport,
  ImportResolver,
  ImportRow,
  IndexStats,
  OutlineNode,
  QueryAnswer,
  QueryNode,
  QueryOptions,
  RefRow,
  Where,
} from '../contracts/code-index-contract.ts';
import type { ProblemFact } from '../contracts/facts.ts';
import { LANGUAGE_IDS } from '../profile/catalog.ts';
import { compileWhere, refusal, wildPattern } from './compile-where.ts';
import { type CurrentFile, currentFile, currentProblems, violationsOf } from './current-file.ts';
import { findImporters, resolveRelative } from './find-importers.ts';
import { followChanges } from './follow-changes.ts';
import { generate } from './generate.ts';
import { createIndexParts, type IndexParts } from './index-parts.ts';
import { findId, findReferences, outlineOf } from './look-ups.ts';
import { nearNames } from './near-names.ts';
import { queryNode } from './query-node.ts';
import { runQuery } from './run-query.ts';
import { withSource } from './with-source.ts';
import { indexClosed } from './worker/index-closed.ts';

export function createCodeIndex(options: CodeIndexOptions): CodeIndex {
  return new WorkspaceIndex(createIndexParts(options), options.resolveImport ?? resolveRelative);
}

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 10_000;
/** Rounds of a question whose files turn out to have changed under it. */
const ROUNDS = 3;

class WorkspaceIndex implements CodeIndex {
  readonly #parts: IndexParts;
  readonly #resolve: ImportResolver;
  /** Changes being brought in: later questions wait for them. */
  readonly #refreshing = new Set<Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(parts: IndexParts, resolve: ImportResolver) {
    this.#parts = parts;
    this.#resolve = resolve;
  }

  covers(path: string): boolean {
    return this.#parts.languages.byName(path) !== undefined || this.#parts.table.get(path) !== undefined;
  }

  async refresh(changes: readonly FileChange[], signal?: AbortSignal): Promise<void> {
    if (this.#closing !== undefined) throw indexClosed();
    const work = this.#parts.loaded.then(() => followChanges(changes, this.#parts, signal));
    this.#refreshing.add(work);
    try {
      await work;
    } finally {
      this.#refreshing.delete(work);
    }
  }

  async parseProblems(path: string, signal?: AbortSignal): Promise<readonly Violation[]> {
    await this.#settled();
    const file = await currentProblems(path, this.#parts, signal);
    return file === undefined || !this.#parts.languages.isBlocking(file.language) ? [] : violationsOf(file);
  }

  async generate(options: GenerateOptions = {}): Promise<GenerateReport> {
    await this.#rowsRead(options.signal);
    const began = Date.now();
    const report = await generate(options, this.#parts);
    this.#parts.outside.listed(began);
    return report;
  }

  async query(where: Where, options: QueryOptions = {}): Promise<QueryAnswer> {
    const compiled = compileWhere(where, LANGUAGE_IDS);
    const bounds = { limit: limitOf(options.limit), offset: offsetOf(options.offset), signal: options.signal };
    await this.#lookOutside(options);
    return this.#again(async () => {
      const { nodes, truncated, total, lost } = await runQuery(compiled, bounds, this.#parts);
      const size = { truncated, ...(total === undefined ? {} : { total }) };
      if (options.source !== true) return { answer: { nodes, ...size }, lost };
      const cut = await withSource(nodes, this.#parts);
      return { answer: { nodes: cut.nodes, ...size }, lost: [...lost, ...cut.changed] };
    });
  }

  async nodeById(id: string): Promise<FoundNode | undefined> {
    await this.#rowsRead();
    const found = await findId(id, this.#parts);
    if (found !== undefined || this.#parts.outside.isQuiet()) return found;
    await this.#parts.outside.bringIn({});
    await this.#parts.indexer.settle();
    return findId(id, this.#parts);
  }

  async nearNames(name: string): Promise<readonly string[]> {
    await this.#rowsRead();
    return nearNames(name, this.#parts.table);
  }

  lookedAt(): number {
    return this.#parts.outside.lookedAt;
  }

  async nodesOfFile(path: string, options: { readonly source?: boolean } = {}): Promise<readonly QueryNode[]> {
    return this.#again(async () => {
      const nodes = nodesOf(await this.#current(path));
      if (options.source !== true) return { answer: nodes, lost: [] };
      const cut = await withSource(nodes, this.#parts);
      return { answer: cut.nodes, lost: cut.changed };
    });
  }

  async outline(path: string): Promise<readonly OutlineNode[]> {
    const file = await this.#current(path);
    return file?.view === undefined ? [] : outlineOf(file.view, nodesOf(file));
  }

  async references(name: string, options: FreshOptions & { readonly limit?: number } = {}): Promise<readonly RefRow[]> {
    const limit = limitOf(options.limit ?? MAX_LIMIT);
    await this.#lookOutside(options);
    return this.#again(async () => {
      const { rows, lost } = await findReferences(name, this.#parts, { limit, signal: options.signal });
      return { answer: rows, lost };
    });
  }

  async importsOf(path: string, nameLike?: string): Promise<readonly ImportRow[]> {
    const file = await this.#current(path);
    const pattern = nameLike === undefined ? undefined : wildPattern(nameLike);
    const fits = (text: string | undefined) => pattern === undefined || (text !== undefined && pattern.test(text));
    const imports = file?.view?.imports() ?? [];
    return imports.filter(({ source, name }) => fits(source) || fits(name)).map((one) => ({ ...one, file: path }));
  }

  async importersOf(path: string, options: FreshOptions = {}): Promise<readonly ImportRow[]> {
    await this.#lookOutside(options);
    return this.#again(async () => {
      const parts = { ...this.#parts, resolve: this.#resolve };
      const { rows, lost } = await findImporters(path, parts, options.signal);
      return { answer: rows, lost };
    });
  }

  async problemsOf(path: string): Promise<readonly ProblemFact[]> {
    await this.#settled();
    return (await currentProblems(path, this.#parts))?.found?.problems ?? [];
  }

  problemsBefore(path: string): number | undefined {
    return this.#parts.table.get(path)?.problemsBefore;
  }

  fileRow(path: string): FileRow | undefined {
    this.#parts.indexer.settleNow(path);
    const card = this.#parts.table.get(path);
    if (card === undefined) return undefined;
    const { language, sha256, stamp, nodeCount, problemCount, generated, library, skip } = card;
    return {
      ...{ path, language, sha256, size: stamp.size, nodes: nodeCount, problems: problemCount, generated, library },
      ...(skip === undefined ? {} : { skipped: skip }),
    };
  }

  files(): readonly string[] {
    return this.#parts.table.sorted().map((card) => card.path);
  }

  stats(): IndexStats {
    const { table, store, scopes, indexer, watch } = this.#parts;
    indexer.settleNow();
    const languages: Record<string, number> = {};
    for (const { language } of table.sorted()) languages[language] = (languages[language] ?? 0) + 1;
    return {
      files: table.size,
      nodes: table.nodeCount,
      languages,
      generated: scopes.all().length > 0,
      storage: store.storage,
      ...(store.note === undefined ? {} : { note: store.note }),
      watched: watch.isOn,
      ...(watch.note === undefined ? {} : { unwatched: watch.note }),
    };
  }

  isGenerated(): boolean {
    return this.#parts.scopes.all().length > 0;
  }

  catchUp(signal?: AbortSignal): Promise<void> {
    return this.#lookOutside({ fresh: true, ...(signal === undefined ? {} : { signal }) });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { loaded, indexer, station, store, watch } = this.#parts;
    watch.close();
    await loaded;
    const ended = indexer.close();
    await station.closePool();
    await ended;
    await station.close();
    await store.close();
  }

  /** Stored rows are loaded, and changes reported before now are in. */
  async #settled(): Promise<void> {
    if (this.#closing !== undefined) throw indexClosed();
    if (!this.#parts.isLoaded()) await this.#parts.loaded;
    if (this.#refreshing.size > 0) await Promise.allSettled(this.#refreshing);
  }

  /** And their facts are read. */
  async #rowsRead(signal?: AbortSignal): Promise<void> {
    await this.#settled();
    await this.#parts.indexer.settle(signal);
  }

  async #lookOutside({ fresh, signal }: FreshOptions): Promise<void> {
    await this.#settled();
    const { outside } = this.#parts;
    if (fresh === true || !outside.isQuiet()) await outside.bringIn({ fresh, signal });
    await this.#parts.indexer.settle(signal);
  }

  async #current(path: string, signal?: AbortSignal): Promise<CurrentFile | undefined> {
    await this.#settled();
    return currentFile(path, this.#parts, signal);
  }

  /** Asks until no file got lost or changed under the question; the last answer is given in any case. */
  async #again<T>(ask: () => Promise<{ readonly answer: T; readonly lost: readonly string[] }>): Promise<T> {
    for (let round = 1; ; round++) {
      const { answer, lost } = await ask();
      if (lost.length === 0 || round === ROUNDS) return answer;
      await this.#parts.indexer.run(lost, { look: 'content' });
    }
  }
}

function nodesOf(file: CurrentFile | undefined): QueryNode[] {
  const view = file?.view;
  if (file === undefined || view === undefined) return [];
  return Array.from({ length: view.nodeCount }, (_, node) => queryNode(view, node, file));
}

function limitOf(limit = DEFAULT_LIMIT): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw refusal('Limit is out of range', 'limit', `a whole number from 1 to ${MAX_LIMIT}`);
}

function offsetOf(offset = 0): number {
  if (Number.isInteger(offset) && offset >= 0) return offset;
  throw refusal('Offset is out of range', 'offset', 'a whole number, 0 or more');
}
