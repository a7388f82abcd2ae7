/** The edits that take a declaration out of its file, with docs, attributes, one separator and the blank lines it had. */
import type { ToolError } from '@tool-runtime/protocol';
import type { NodeFact } from '../contracts/facts.ts';
import { linesOf } from './declaration-lines.ts';
import type { Draft } from './draft.ts';
import { refuseEdit } from './edit-failures.ts';
import { withoutComma } from './import-edits.ts';
import { bodyNode, nodeOf, parts } from './syntax-node.ts';
import type { TextEdit } from './text-edit.ts';
import { indentAt, isBlank, lineEnd, lineStart, nextLine } from './text-style.ts';

/** Several ways, the likelier first. Throws for one of several names that share a declaration. */
export function removeDeclaration(draft: Draft, node: NodeFact): readonly (readonly TextEdit[])[] {
  requireSeparable(draft, node);
  const range = draft.units(node.fullSpan);
  const lines = linesOf(draft, node);
  const own = nodeOf(draft, ...pair(draft.units(node.span)));
  const isListed = own?.parent?.children.some((child) => child?.type === ',') ?? false;
  const { placeholder } = draft.edit;
  if (placeholder !== undefined && leavesNothing(draft, node)) return [[{ ...range, text: placeholder }]];
  const plain =
    lines === undefined
      ? { ...range, end: range.end + spaceBehind(draft.text, range.end), text: '' }
      : wholeLines(draft, lines);
  return isListed && own !== undefined ? [listed(draft, node, withoutComma(draft, own)), [plain]] : [[plain]];
}

function pair({ start, end }: { readonly start: number; readonly end: number }): [number, number] {
  return [start, end];
}

/** The docs go with the element; from the comma before it they are inside already. */
function listed(draft: Draft, node: NodeFact, edit: TextEdit): readonly TextEdit[] {
  const { start } = draft.units(node.fullSpan);
  if (edit.start <= start) return [edit];
  const line = lineStart(draft.text, start);
  const isOwnLine = isBlank(draft.text.slice(line, start)) && edit.start === lineStart(draft.text, edit.start);
  return [{ ...edit, start: isOwnLine ? line : start }];
}

/** Nothing else is in the body, and an empty one is an error even where the parser does not say so. */
function leavesNothing(draft: Draft, node: NodeFact): boolean {
  const container = draft.facts.nodes[node.parent];
  const body = container === undefined ? undefined : bodyNode(draft, container);
  if (body === undefined) return false;
  const range = draft.units(node.fullSpan);
  return parts(body, draft).every((part) => range.start <= part.startIndex && part.endIndex <= range.end);
}

function spaceBehind(text: string, at: number): number {
  return /^[;]?[ \t]*/.exec(text.slice(at))?.[0].length ?? 0;
}

/** Of the blank lines around one block stays: the larger, none at the edges of a container. */
function wholeLines({ text }: Draft, { start, end }: { readonly start: number; readonly end: number }): TextEdit {
  const above = blankAbove(text, start);
  const below = blankBelow(text, nextLine(text, end));
  const isFirst = above.isEdge || opens(text, above.at);
  const isLast = below.at >= text.length || /^\s*(?:[)}\]]|end\b)/.test(text.slice(below.at, lineEnd(text, below.at)));
  const isDedent = indentAt(text, below.at).length < indentAt(text, start).length;
  if (isLast) return { start: above.at, end: nextLine(text, end), text: '' };
  if (isFirst) return { start, end: below.at, text: '' };
  if (isDedent || below.count > above.count) return { start: above.at, end: nextLine(text, end), text: '' };
  return { start, end: below.at, text: '' };
}

function blankAbove(
  text: string,
  start: number,
): { readonly at: number; readonly count: number; readonly isEdge: boolean } {
  let at = start;
  let count = 0;
  while (at > 0 && text[at - 1] === '\n') {
    const line = lineStart(text, at - 1);
    if (!isBlank(text.slice(line, at).replace(/^\ufeff/, ''))) return { at, count, isEdge: false };
    at = line;
    count++;
  }
  return { at, count, isEdge: true };
}

function blankBelow(text: string, start: number): { readonly at: number; readonly count: number } {
  let at = start;
  let count = 0;
  while (at < text.length && isBlank(text.slice(at, lineEnd(text, at)))) {
    at = nextLine(text, at);
    count++;
  }
  return { at, count };
}

function opens(text: string, at: number): boolean {
  return at > 0 && /[{([:]\s*$/.test(text.slice(lineStart(text, at - 1), at));
}

/** `a, b = 1, 2`: without one of the names the rest means something else. */
function requireSeparable(draft: Draft, node: NodeFact): void {
  const isBare = node.span.start === node.nameSpan.start && node.span.end === node.nameSpan.end;
  const isValue = node.type === 'var' || node.type === 'const' || node.type === 'fn';
  const isShared = draft.facts.nodes.some(
    (one) =>
      one !== node && one.span.start === node.span.start && one.span.end === node.span.end && one.type === node.type,
  );
  if ((isBare && isValue) || isShared) throw inseparable(draft, node);
}

function inseparable({ path }: Draft, { name, line }: NodeFact): ToolError {
  return refuseEdit('list_declaration', `Several names are declared at once: ${name}`, {
    path,
    next: 'replace the whole statement with file_patch',
    details: { line },
  });
}
