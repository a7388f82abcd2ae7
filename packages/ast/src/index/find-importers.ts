/** Which files import a given one. What an import means is the resolver's business; each is asked about once. */
import path from 'node:path';
import type { ImportOrigin, ImportResolver, ImportRow } from '../contracts/code-index-contract.ts';
import type { FactsCache } from './facts-cache.ts';
import { sourcesOf } from './file-card.ts';
import type { FileTable } from './file-table.ts';
import { slices } from './time-slices.ts';

export interface ImporterAnswer {
  readonly rows: ImportRow[];
  readonly lost: string[];
}

export async function findImporters(
  target: string,
  {
    table,
    facts,
    resolve,
  }: { readonly table: FileTable; readonly facts: FactsCache; readonly resolve: ImportResolver },
  signal?: AbortSignal,
): Promise<ImporterAnswer> {
  const answer: ImporterAnswer = { rows: [], lost: [] };
  const has = (file: string) => table.get(file) !== undefined;
  const pace = slices(signal);
  for (const card of table.sorted()) {
    if (pace.isDue()) await pace.pause();
    const origin: ImportOrigin = { path: card.path, language: card.language, has };
    const meant = new Set(
      [...sourcesOf(card)]
        .map((place) => table.names.text(place))
        .filter((source) => resolve(source, origin) === target),
    );
    if (meant.size === 0) continue;
    const imports = facts.get(card)?.imports();
    if (imports === undefined) answer.lost.push(card.path);
    for (const one of imports ?? []) if (meant.has(one.source)) answer.rows.push({ ...one, file: card.path });
  }
  return answer;
}

/** Relative specifiers: as written, else with the extension of the importing file, else the folder's index file. */
export const resolveRelative: ImportResolver = (source, { path: from, has }) => {
  if (!/^\.\.?(?:\/|$)/.test(source)) return undefined;
  const base = path.posix.join(path.posix.dirname(from), source);
  const extension = path.posix.extname(from);
  const stem = base.slice(0, base.length - path.posix.extname(base).length);
  return [base, base + extension, stem + extension, path.posix.join(base, `index${extension}`)].find(has);
};
