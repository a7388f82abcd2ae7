/** How many blank lines a file leaves between declarations of one container: its habit, read off its neighbours. */
import type { NodeFact } from '../contracts/facts.ts';
import { linesOf } from './declaration-lines.ts';
import type { Draft } from './draft.ts';

/** Pairs looked at. */
const MAX_PAIRS = 50;
const MAX_GAP = 2;

export interface GapQuery {
  /** Place of the container in the facts; -1 for the top. */
  readonly parent: number;
  /** Whether one of the two takes several lines: then usually a blank line is left. */
  readonly isLarge: boolean;
}

export function usualGap(draft: Draft, { parent, isLarge }: GapQuery): number {
  const families = Map.groupBy(draft.facts.nodes, (node) => node.parent);
  const gaps = gapsIn(draft, families.get(parent) ?? [], isLarge);
  if (gaps.length > 0) return mostFrequent(gaps, isLarge);
  const other: number[] = [];
  // Containers of one file share a habit; the top of a file often has another.
  for (const [container, siblings] of families) {
    if (other.length >= MAX_PAIRS || parent === -1) break;
    if (container !== -1) other.push(...gapsIn(draft, siblings, isLarge));
  }
  return other.length > 0 ? mostFrequent(other, isLarge) : Number(isLarge);
}

function gapsIn(draft: Draft, family: readonly NodeFact[], isLarge: boolean): number[] {
  const siblings = family.slice(0, MAX_PAIRS);
  const gaps: number[] = [];
  for (const [index, node] of siblings.entries()) {
    const next = siblings[index + 1];
    if (next === undefined || next.fullSpan.start < node.fullSpan.end) continue;
    if ((takesLines(node) || takesLines(next)) !== isLarge) continue;
    const gap = blankLinesBetween(draft, node, next);
    if (gap !== undefined) gaps.push(gap);
  }
  return gaps;
}

function blankLinesBetween(draft: Draft, node: NodeFact, next: NodeFact): number | undefined {
  const [lines, below] = [linesOf(draft, node), linesOf(draft, next)];
  if (lines === undefined || below === undefined || below.start < lines.end) return undefined;
  const between = draft.text.slice(lines.end, below.start);
  return /\S/.test(between) ? undefined : between.split('\n').length - 2;
}

export function takesLines(node: NodeFact): boolean {
  return node.endLine > node.line;
}

/** When in doubt, large declarations are set apart and small ones kept together. */
function mostFrequent(numbers: readonly number[], isLarge: boolean): number {
  const counts = Map.groupBy(numbers, (one) => Math.min(one, MAX_GAP));
  const [best] = [...counts].sort(
    (left, right) => right[1].length - left[1].length || (isLarge ? right[0] - left[0] : left[0] - right[0]),
  );
  return best?.[0] ?? 0;
}
