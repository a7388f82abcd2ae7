/** The lines a declaration has to itself, with what belongs to it: docs, attributes, a separator, a comment after it. */
import type { NodeFact } from '../contracts/facts.ts';
import type { Draft } from './draft.ts';
import { bodyNode, isCommentOnly, parts } from './syntax-node.ts';
import { isBlank, lineEnd, lineStart } from './text-style.ts';

export interface DeclarationLines {
  /** Where the first line starts, indentation included. */
  readonly start: number;
  /** Where the last line ends, before its line break. */
  readonly end: number;
}

/** Undefined if there is other code on the same lines. */
export function linesOf(draft: Draft, node: NodeFact): DeclarationLines | undefined {
  const { text } = draft;
  const range = draft.units(node.fullSpan);
  const start = lineStart(text, range.start);
  const end = lineEnd(text, range.end);
  const behind = text.slice(range.end, end).replace(/^\s*[;,]/, '');
  const isAlone = isBlank(text.slice(start, range.start)) && (isBlank(behind) || isCommentOnly(draft, behind));
  return isAlone ? { start, end } : undefined;
}

/** Up over comments directly above: they are about what is below. */
export function withComments(draft: Draft, lines: DeclarationLines, isWanted = isAny): DeclarationLines {
  let { start } = lines;
  for (let above = commentAbove(draft, start); above !== undefined; above = commentAbove(draft, start)) {
    if (!isWanted(above.text)) break;
    start = above.start;
  }
  return { start, end: lines.end };
}

function isAny(comment: string): boolean {
  return !comment.startsWith('#!');
}

/** The comment that ends on the line before, when it has its lines to itself. */
function commentAbove(
  { text, profile, parsed }: Draft,
  start: number,
): { readonly start: number; readonly text: string } | undefined {
  if (start === 0 || text[start - 1] !== '\n') return undefined;
  const end = text.slice(0, start).trimEnd().length;
  if (text.slice(end, start).split('\n').length !== 2) return undefined;
  let node = parsed.tree.rootNode.descendantForIndex(end - 1, end - 1);
  while (node !== null && !profile.kinds.comment.includes(node.type)) node = node.parent;
  if (node === null) return undefined;
  const line = lineStart(text, node.startIndex);
  return isBlank(text.slice(line, node.startIndex)) ? { start: line, text: node.text } : undefined;
}

/**
 * The string at the start of a body that documents the declaration, in languages that have such.
 *
 * Range in UTF-16 units of the whole statement.
 */
export function docstringOf(
  draft: Draft,
  node: NodeFact,
): { readonly start: number; readonly end: number } | undefined {
  if (draft.profile.doc.by !== 'docstring') return undefined;
  const body = bodyNode(draft, node);
  const first = body === undefined ? undefined : parts(body, draft)[0];
  if (first === undefined || first.namedChildCount !== 1) return undefined;
  const inner = first.namedChild(0);
  const isString = inner !== null && draft.profile.kinds.string.includes(inner.type);
  return isString ? { start: first.startIndex, end: first.endIndex } : undefined;
}
