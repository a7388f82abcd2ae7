/** Finds nodes of a draft's tree by place. Offsets are UTF-16 units. */
import type { Node } from 'web-tree-sitter';
import type { NodeFact } from '../contracts/facts.ts';
import type { ParsedSource } from '../parse/source-parser.ts';
import type { Draft } from './draft.ts';

/** The outermost node of exactly this range. */
export function nodeOf(draft: Draft, start: number, end: number): Node | undefined {
  let node = draft.parsed.tree.rootNode.descendantForIndex(start, Math.max(start, end - 1));
  while (node !== null && (node.startIndex > start || node.endIndex < end)) node = node.parent;
  if (node === null || node.startIndex !== start || node.endIndex !== end) return undefined;
  while (node.parent !== null && node.parent.startIndex === start && node.parent.endIndex === end) node = node.parent;
  return node;
}

export function bodyNode(draft: Draft, { bodySpan }: NodeFact): Node | undefined {
  if (bodySpan === undefined) return undefined;
  const { start, end } = draft.units(bodySpan);
  return nodeOf(draft, start, end);
}

export function children(node: Node): readonly Node[] {
  return node.children.filter((child) => child !== null);
}

/** Named children that are no comments. */
export function parts(node: Node, draft: Draft): readonly Node[] {
  return node.namedChildren.filter(
    (child): child is Node => child !== null && !draft.profile.kinds.comment.includes(child.type),
  );
}

/** Text that holds nothing but comments, at least one. */
export function isCommentOnly(draft: Draft, text: string): boolean {
  const parsed = draft.parseAlone(text.trim());
  try {
    const { rootNode } = parsed.tree;
    const found = rootNode.namedChildren.filter((child) => child !== null);
    return found.length > 0 && found.every(({ type }) => draft.profile.kinds.comment.includes(type));
  } finally {
    parsed.delete();
  }
}

/** Rows of `text` (from 0) that begin inside of a string, as seen from the text alone. */
export function frozenRows(draft: Draft, text: string): ReadonlySet<number> {
  if (!text.includes('\n')) return new Set();
  const parsed = draft.parseAlone(text);
  try {
    return frozenRowsOf(parsed, draft.profile.kinds.string);
  } finally {
    parsed.delete();
  }
}

export function frozenRowsOf({ tree }: ParsedSource, stringKinds: readonly string[]): ReadonlySet<number> {
  const rows = new Set<number>();
  for (const node of tree.rootNode.descendantsOfType([...stringKinds])) {
    if (node === null || node.endPosition.row === node.startPosition.row || isStatement(node)) continue;
    for (let row = node.startPosition.row + 1; row <= node.endPosition.row; row++) rows.add(row);
  }
  return rows;
}

/** A string that is a statement of its own is a docstring: its lines may be indented like code. */
function isStatement(node: Node): boolean {
  let around: Node | null = node;
  while (around !== null && around.startIndex === node.startIndex && around.endIndex === node.endIndex) {
    if (around.type === 'expression_statement') return true;
    around = around.parent;
  }
  const whole = node.parent;
  return whole !== null && whole.type !== 'program' && isStringPart(node) && isStatement(whole);
}

function isStringPart({ type, parent }: Node): boolean {
  return (parent?.type.includes('string') ?? false) && type.includes('string');
}
