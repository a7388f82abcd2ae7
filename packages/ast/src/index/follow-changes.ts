/** Brings in the changes the runtime reports itself: files written and removed, folders moved, copied and removed. */
import path from 'node:path';
import type { FileChange } from '@tool-runtime/sdk';
import type { FileTable } from './file-table.ts';
import { type FindParts, findSources, isListed, literalGlob } from './find-sources.ts';
import type { Indexer } from './indexer.ts';
import type { OutsideChanges } from './outside-changes.ts';

export interface FollowParts extends FindParts {
  readonly table: FileTable;
  readonly indexer: Indexer;
  readonly outside: OutsideChanges;
}

const IGNORE_FILE = '.gitignore';

export async function followChanges(
  changes: readonly FileChange[],
  parts: FollowParts,
  signal: AbortSignal | undefined,
): Promise<void> {
  const paths = new Set<string>();
  const listed = new Set<string>();
  for (const { path: name, before, after } of changes) {
    if (path.posix.basename(name) === IGNORE_FILE) parts.outside.expectNewFiles();
    const isFolder = [before?.type, after?.type].includes('directory');
    if (isFolder) for (const card of parts.table.below(name)) paths.add(card.path);
    if (after?.type !== 'directory') paths.add(name);
    else for (const below of await listedBelow(name, parts, signal)) listed.add(below);
  }
  await parts.indexer.run([...paths.union(listed)], {
    signal,
    isDeferred: true,
    belongs: async (name) => listed.has(name) || isListed(name, parts.workspace),
  });
}

async function listedBelow(
  folder: string,
  parts: FollowParts,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const globs = [folder === '.' ? '**' : `${literalGlob(folder)}/**`];
  const scope = { globs, language: undefined, maxFiles: Number.MAX_SAFE_INTEGER };
  return (await findSources(scope, parts, signal)).paths;
}
