/** Calls, instantiations and macros of one name, in the order of paths and places. */
import type { RefRow } from '../contracts/code-index-contract.ts';
import type { FactsCache } from './facts-cache.ts';
import { MARK } from './facts-layout.ts';
import type { FactsView } from './facts-view.ts';
import type { FileCard } from './file-card.ts';
import type { FileTable } from './file-table.ts';
import { slices } from './time-slices.ts';

export interface ReferenceAnswer {
  readonly rows: RefRow[];
  /** Files whose facts were gone: read them again and ask again. */
  readonly lost: string[];
}

export async function findReferences(
  name: string,
  { table, facts }: { readonly table: FileTable; readonly facts: FactsCache },
  { limit, signal }: { readonly limit: number; readonly signal?: AbortSignal | undefined },
): Promise<ReferenceAnswer> {
  const answer: ReferenceAnswer = { rows: [], lost: [] };
  const place = table.names.find(name);
  if (place === undefined) return answer;
  const pace = slices(signal);
  for (const card of table.withCall(place) ?? table.sorted()) {
    if (answer.rows.length >= limit) break;
    if (!card.calls.includes(place)) continue;
    if (pace.isDue()) await pace.pause();
    const view = facts.get(card);
    if (view === undefined) answer.lost.push(card.path);
    else answer.rows.push(...rowsOf(name, view, card));
  }
  answer.rows.splice(limit);
  return answer;
}

function rowsOf(name: string, view: FactsView, { path, language }: FileCard): RefRow[] {
  const rows: RefRow[] = [];
  for (let index = 0; index < view.refCount; index++) {
    if (view.refName(index) !== name) continue;
    const { kind, start, line, node, opaque } = view.ref(index);
    rows.push({
      file: path,
      language,
      kind,
      name,
      start,
      line,
      ...(node < 0 ? {} : { node_id: view.text(node, 'id') }),
      test: node >= 0 && (view.number(node, 'mark') & MARK.test) !== 0,
      ...(opaque === true ? { opaque } : {}),
    });
  }
  return rows;
}
