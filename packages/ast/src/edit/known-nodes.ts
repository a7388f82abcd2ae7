/**
 * The declarations of a file under the ids the index gave them.
 *
 * The index keeps the ordinals of twins through changes, so its ids may differ from those a fresh reading gives. The
 * ordinal is part of the id's hash and found again by trying.
 */

import type { QueryNode } from '../contracts/code-index-contract.ts';
import type { NodeFact } from '../contracts/facts.ts';
import { nodeId } from '../symbols/node-id.ts';

const MAX_ORDINAL = 1_000;

/** Undefined when the two do not speak of the same content. */
export function nodesAsIndexed(
  path: string,
  facts: readonly NodeFact[],
  rows: readonly QueryNode[],
): readonly NodeFact[] | undefined {
  if (facts.length !== rows.length) return undefined;
  const nodes: NodeFact[] = [];
  for (const [index, fact] of facts.entries()) {
    const row = rows[index];
    if (row === undefined || row.rev !== fact.rev || row.name_span.start !== fact.nameSpan.start) return undefined;
    nodes.push(row.id === fact.id ? fact : { ...fact, id: row.id, ordinal: ordinalOf(path, fact, row.id) });
  }
  return nodes;
}

function ordinalOf(path: string, fact: NodeFact, id: string): number {
  for (let ordinal = 0; ordinal < MAX_ORDINAL; ordinal++) if (nodeId(path, { ...fact, ordinal }) === id) return ordinal;
  return fact.ordinal;
}
