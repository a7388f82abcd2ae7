/** One file as it is now: from the index when it belongs there, parsed for this answer when it does not. */

import type { Violation } from '@tool-runtime/sdk';
import type { SkipReason } from '../contracts/code-index-contract.ts';
import type { Problems } from '../symbols/read-problems.ts';
import type { FactsCache } from './facts-cache.ts';
import { FactsView } from './facts-view.ts';
import type { FileTable } from './file-table.ts';
import { isListed } from './find-sources.ts';
import type { Indexer, IndexerParts } from './indexer.ts';

export interface CurrentFile {
  readonly path: string;
  readonly language: string;
  readonly view: FactsView | undefined;
  /** Why there is no view. */
  readonly skip: SkipReason | undefined;
}

export interface CurrentParts extends Pick<IndexerParts, 'workspace'> {
  readonly table: FileTable;
  readonly facts: FactsCache;
  readonly indexer: Indexer;
}

/** What is said of a file's syntax, which is known before its facts are. */
export interface CurrentProblems extends Pick<CurrentFile, 'path' | 'language' | 'skip'> {
  /** Undefined where there is no view. */
  readonly found: Problems | undefined;
}

export async function currentProblems(
  path: string,
  parts: CurrentParts,
  signal?: AbortSignal,
): Promise<CurrentProblems | undefined> {
  const { table, indexer, workspace } = parts;
  if (indexer.pendingProblems(path) !== undefined) {
    await indexer.run([path], { signal, isDeferred: true, belongs: (name) => isListed(name, workspace) });
    const found = indexer.pendingProblems(path);
    const language = table.get(path)?.language;
    if (found !== undefined && language !== undefined) return { path, language, skip: undefined, found };
  }
  const file = await currentFile(path, parts, signal);
  if (file === undefined) return undefined;
  const { language, skip, view } = file;
  const found = view === undefined ? undefined : { problems: view.problems(), problemCount: view.problemCount };
  return { path, language, skip, found };
}

/** Undefined when there is no such file, or it is in no known language. */
export async function currentFile(
  path: string,
  parts: CurrentParts,
  signal?: AbortSignal,
): Promise<CurrentFile | undefined> {
  const { table, facts, indexer, workspace } = parts;
  const belongs = (name: string) => isListed(name, workspace);
  // The second round is for facts that got lost on disk.
  for (const look of ['stamp', 'content'] as const) {
    await indexer.run([path], { look, belongs, signal });
    if (!indexer.settleNow(path)) await indexer.run([path], { look: 'parse', signal });
    const card = table.get(path);
    if (card === undefined) break;
    const { language, skip } = card;
    const view = skip === undefined ? facts.get(card) : undefined;
    if (view !== undefined || skip !== undefined) return { path, language, view, skip };
  }
  const seen = await indexer.glimpse(path, signal);
  if (seen === undefined) return undefined;
  const { language } = seen;
  if ('skipped' in seen) return { path, language, view: undefined, skip: seen.skipped };
  return { path, language, view: new FactsView(seen.packed), skip: undefined };
}

/** Syntax errors of a file as findings of a rule. A file that could not be parsed is not known to be right. */
export function violationsOf({ path, found, skip }: CurrentProblems): readonly Violation[] {
  if (found === undefined) {
    return [
      {
        message: `File cannot be parsed: ${path}`,
        path,
        next: 'make it smaller or plain text, or lower the rule in the registry',
        details: { reason: skip ?? 'unknown' },
      },
    ];
  }
  return found.problems.map(({ kind, span, line, col, message }) => ({
    message: `${message}: ${path}:${line}:${col}`,
    path,
    line,
    details: { kind, col, start: span.start, end: span.end, problems: found.problemCount },
  }));
}
