/** The declaration an id names, in its file as it is now. */
import type { FoundNode } from '../contracts/code-index-contract.ts';
import { type CurrentParts, currentFile } from './current-file.ts';
import { MARK } from './facts-layout.ts';
import { idKey } from './file-card.ts';
import { queryNode } from './query-node.ts';

export async function findId(id: string, parts: CurrentParts): Promise<FoundNode | undefined> {
  const key = idKey(id);
  for (const { path } of parts.table.withId(key)) {
    await currentFile(path, parts);
    // A write reported since would leave a card with a newer digest than its columns.
    parts.indexer.settleNow(path);
    const card = parts.table.get(path);
    const view = card === undefined ? undefined : parts.facts.get(card);
    if (view === undefined || card === undefined) continue;
    for (let node = card.ids.indexOf(key); node !== -1; node = card.ids.indexOf(key, node + 1)) {
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
