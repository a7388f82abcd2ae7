/** The parts of one code index, wired. Stored rows are loaded in the background; callers wait for `loaded`. */
import path from 'node:path';
import type { Workspace } from '@tool-runtime/sdk';
import type { CodeIndexOptions } from '../contracts/code-index-contract.ts';
import { FactsCache } from './facts-cache.ts';
import { FileTable } from './file-table.ts';
import { FolderWatch } from './folder-watch.ts';
import { Indexer } from './indexer.ts';
import { createLanguageFinder, type LanguageFinder } from './language-finder.ts';
import { OutsideChanges } from './outside-changes.ts';
import { ParseStation } from './parse-station.ts';
import { RecordStore } from './record-store.ts';
import { releaseMemory } from './release-memory.ts';
import { GlobVerdicts } from './run-query.ts';
import { ScopeMemory } from './scope-memory.ts';
import { unpackColumns } from './stored-columns.ts';
import { slices } from './time-slices.ts';

export interface IndexParts {
  readonly workspace: Workspace;
  readonly table: FileTable;
  readonly store: RecordStore;
  readonly facts: FactsCache;
  readonly languages: LanguageFinder;
  readonly station: ParseStation;
  readonly indexer: Indexer;
  readonly scopes: ScopeMemory;
  readonly outside: OutsideChanges;
  readonly watch: FolderWatch;
  readonly globs: GlobVerdicts;
  readonly loaded: Promise<void>;
  isLoaded(): boolean;
}

const WORKER_HEAP_MB = 1_024;

export function createIndexParts(options: CodeIndexOptions): IndexParts {
  const { workspace, folder, workers = 2, workerHeapMb = WORKER_HEAP_MB } = options;
  if (folder !== undefined && !path.isAbsolute(folder))
    throw new TypeError('The state folder must be an absolute path');
  const table = new FileTable();
  const store = new RecordStore(options.readOnly === true ? undefined : folder);
  const facts = new FactsCache(store);
  const languages = createLanguageFinder(workspace);
  const station = new ParseStation({ size: workers, heapMb: workerHeapMb, onRest: releaseMemory });
  const indexer = new Indexer({ workspace, table, store, facts, languages, station });
  const scopes = new ScopeMemory(store);
  const watch = new FolderWatch(options.root, options.maxWatchedFolders);
  const outside = new OutsideChanges({ workspace, table, indexer, languages, watch, scopes: () => scopes.all() });
  let isLoaded = false;
  const loaded = load({ table, store, languages }).then(() => {
    isLoaded = true;
  });
  // Callers get the error; without a caller it must not end the process.
  loaded.catch(() => undefined);
  return {
    ...{ workspace, table, store, facts, languages, station, indexer, scopes, outside, watch, loaded },
    globs: new GlobVerdicts(),
    isLoaded: () => isLoaded,
  };
}

async function load({ table, store, languages }: Pick<IndexParts, 'table' | 'store' | 'languages'>): Promise<void> {
  const pace = slices();
  for (const page of store.load()) {
    for (const { columns, ...row } of page) {
      table.put({ ...unpackColumns(columns, table.names, table.slabs), ...row, ticket: 0, problemsBefore: undefined });
      if (pace.isDue()) await pace.pause();
    }
  }
  languages.learn(
    table.sorted().map((card) => card.path),
    'some',
  );
}
