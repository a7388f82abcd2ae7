/** Indexes a part of the workspace: lists it, parses what changed, drops what is gone. */
import type { GenerateOptions, GenerateReport } from '../contracts/code-index-contract.ts';
import { LANGUAGE_IDS } from '../profile/catalog.ts';
import { refusal } from './compile-where.ts';
import type { FactsCache } from './facts-cache.ts';
import { findSources, type Scope } from './find-sources.ts';
import type { FolderWatch } from './folder-watch.ts';
import type { Indexer, IndexerParts } from './indexer.ts';
import { dropUnlisted } from './outside-changes.ts';
import type { ScopeMemory } from './scope-memory.ts';
import { slices } from './time-slices.ts';

export interface GenerateParts extends Pick<IndexerParts, 'workspace' | 'table' | 'languages' | 'store'> {
  readonly watch: FolderWatch;
  readonly indexer: Indexer;
  readonly facts: FactsCache;
  readonly scopes: ScopeMemory;
}

const MAX_FILES = 5_000;
const MAX_ERRORS = 1_000;
/** Files between two words about progress. */
const PROGRESS_STEP = 25;

export async function generate(options: GenerateOptions, parts: GenerateParts): Promise<GenerateReport> {
  const { table, indexer, scopes, store } = parts;
  const { signal, incremental = true } = options;
  const scope = scopeOf(options);
  const asOf = indexer.mark();
  const listing = await findSources(scope, parts, signal);
  parts.watch.add(listing.folders);
  const total = listing.paths.length;
  options.onProgress?.(0, total);
  const run = await indexer.run(listing.paths, {
    look: incremental ? 'stamp' : 'parse',
    signal,
    onProgress(done) {
      if (done % PROGRESS_STEP === 0 || done === total) options.onProgress?.(done, total);
    },
  });
  dropUnlisted(scope, { listing, asOf }, { table, indexer });
  scopes.add(scope);
  await store.flush();
  return {
    parsed: run.parsed,
    unchanged: run.unchanged,
    skipped: run.skipped.sort((left, right) => (left.path < right.path ? -1 : 1)),
    errors: await firstErrors(listing.paths, parts),
    files: total,
    truncated: listing.truncated,
  };
}

function scopeOf({ paths = [], language, maxFiles = MAX_FILES }: GenerateOptions): Scope {
  if (language !== undefined && !LANGUAGE_IDS.includes(language)) {
    throw refusal(`Unknown language: ${language}`, 'language', `one of ${LANGUAGE_IDS.join(', ')}`);
  }
  if (!Number.isInteger(maxFiles) || maxFiles < 1) {
    throw refusal('Number of files must be a whole number above zero', 'max_files', 'leave it out for 5000');
  }
  return { globs: paths, language, maxFiles };
}

async function firstErrors(
  paths: readonly string[],
  { table, facts }: GenerateParts,
): Promise<GenerateReport['errors']> {
  const errors: { path: string; line: number; message: string }[] = [];
  const pace = slices();
  for (const path of paths) {
    if (errors.length === MAX_ERRORS) break;
    if (pace.isDue()) await pace.pause();
    const card = table.get(path);
    const first = card === undefined || card.problemCount === 0 ? undefined : facts.get(card)?.problems()[0];
    if (first !== undefined) errors.push({ path, line: first.line, message: first.message });
  }
  return errors;
}
