/** The declarations of a file as a tree. */
import type { OutlineNode, QueryNode } from '../contracts/code-index-contract.ts';
import type { FactsView } from './facts-view.ts';

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
