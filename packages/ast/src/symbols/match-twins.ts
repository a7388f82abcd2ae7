/**
 * Keeps the ids of twins (same type, container and name) when a file changes: a twin with the same text keeps its ordinal,
 * the rest is matched in file order. Where more than one could be meant, all of them are marked ambiguous.
 */
import type { FileFacts, NodeFact } from '../contracts/facts.ts';
import { nodeId } from './node-id.ts';

/** What must be known of the earlier declarations, in file order. */
export type EarlierNode = Pick<NodeFact, 'rev' | 'type' | 'container' | 'name' | 'ordinal'>;

export interface EarlierFacts {
  readonly nodes: readonly EarlierNode[];
}

interface Decision {
  readonly ordinal: number;
  readonly ambiguous: boolean;
}

/** `path` is the one the facts were read with. Returns `later` itself when no ordinal differs. */
export function matchTwins(earlier: EarlierFacts, later: FileFacts, path: string): FileFacts {
  const before = groupByKey(earlier.nodes);
  const decisions = new Map<NodeFact, Decision>();
  for (const [key, twins] of groupByKey(later.nodes)) {
    const old = before.get(key) ?? [];
    if (isPlain(old, twins)) continue;
    for (const [node, decision] of decide(old, twins)) decisions.set(node, decision);
  }
  if (decisions.size === 0) return later;
  return { ...later, nodes: later.nodes.map((node) => renumber(node, decisions.get(node), path)) };
}

/** Nothing to choose: a single declaration that was always the first, or a new group. */
function isPlain(old: readonly EarlierNode[], twins: readonly NodeFact[]): boolean {
  return old.length === 0 || (old.length === 1 && twins.length === 1 && old[0]?.ordinal === 0);
}

function decide(old: readonly EarlierNode[], twins: readonly NodeFact[]): Map<NodeFact, Decision> {
  const decisions = new Map<NodeFact, Decision>();
  const byRev = Map.groupBy(old, (one) => one.rev);
  const kept = new Set<EarlierNode>();
  for (const twin of twins) {
    const same = byRev.get(twin.rev)?.shift();
    if (same === undefined) continue;
    kept.add(same);
    decisions.set(twin, { ordinal: same.ordinal, ambiguous: false });
  }
  const newLeft = twins.filter((twin) => !decisions.has(twin));
  const oldLeft = old.filter((one) => !kept.has(one));
  const ambiguous = newLeft.length > 1 || (newLeft.length === 1 && oldLeft.length > 1);
  let fresh = old.reduce((most, one) => Math.max(most, one.ordinal), 0) + 1;
  for (const [index, twin] of newLeft.entries()) {
    decisions.set(twin, { ordinal: oldLeft[index]?.ordinal ?? fresh++, ambiguous });
  }
  return decisions;
}

function renumber(node: NodeFact, decision: Decision | undefined, path: string): NodeFact {
  if (decision === undefined || (decision.ordinal === node.ordinal && !decision.ambiguous)) return node;
  const { ordinal } = decision;
  const id = ordinal === node.ordinal ? node.id : nodeId(path, { ...node, ordinal });
  return { ...node, id, ordinal, ...(decision.ambiguous ? { ambiguous: true } : {}) };
}

function groupByKey<T extends EarlierNode>(nodes: readonly T[]): Map<string, T[]> {
  return Map.groupBy(nodes, (node) => `${node.type}\0${node.container}\0${node.name}`);
}
