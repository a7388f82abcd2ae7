/** Answers that need no query: the references to a name, the declaration of an id, the outline of a file. */
import type { FoundNode, OutlineNode, QueryNode, RefRow } from '../contracts/code-index-contract.ts';
import { type CurrentParts, currentFile } from './current-file.ts';
import type { FactsCache } from './facts-cache.ts';
import { MARK } from './facts-layout.ts';
import type { FactsView } from './facts-view.ts';
import { callsOf, type FileCard, idKey, idsOf } from './file-card.ts';
import type { FileTable } from './file-table.ts';
import { queryNode } from './query-node.ts';
import { slices } from './time-slices.ts';

export interface ReferenceAnswer {
  readonly rows: RefRow[];
  /** Files whose facts were gone: read them again and ask again. */
  readonly lost: string[];
}

/** Calls, instantiations and macros of one name, in the order of paths and places. */
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
    if (!callsOf(card).includes(place)) continue;
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

/** The declaration an id names, in its file as it is now. */
export async function findId(id: string, parts: CurrentParts): Promise<FoundNode | undefined> {
  const key = idKey(id);
  for (const { path } of parts.table.withId(key)) {
    await currentFile(path, parts);
    // A write reported since would leave a card with a newer digest than its columns.
    parts.indexer.settleNow(path);
    const card = parts.table.get(path);
    const view = card === undefined ? undefined : parts.facts.get(card);
    if (view === undefined || card === undefined) continue;
    const ids = idsOf(card);
    for (let node = ids.indexOf(key); node !== -1; node = ids.indexOf(key, node + 1)) {
      if (view.text(node, 'id') !== id) continue;
      return {
        node: queryNode(view, node, card),
        ambiguous: (view.number(node, 'mark') & MARK.ambiguous) !== 0,
        ordinal: view.number(node, 'ordinal'),
        sha256: card.sha256,
      };
    }
  }
  return undefined;
}

/** The declarations of a file as a tree. */
export function outlineOf(view: FactsView, nodes: readonly QueryNode[]): readonly OutlineNode[] {
  const top: OutlineNode[] = [];
  const places: OutlineNode[][] = [];
  for (const [index, node] of nodes.entries()) {
    const children: OutlineNode[] = [];
    places.push(children);
    (places[view.number(index, 'parent')] ?? top).push({ node, children });
  }
  return top;
}
