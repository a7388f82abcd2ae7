/** The imports of a draft with the nodes they are written in. */
import type { Node } from 'web-tree-sitter';
import type { ImportFact } from '../contracts/facts.ts';
import type { Draft } from './draft.ts';
import { refuseEdit } from './edit-failures.ts';
import type { ImportForms } from './edit-profile.ts';
import { children } from './syntax-node.ts';
import type { TextEdit } from './text-edit.ts';
import { isBlank, lineEnd, nextLine } from './text-style.ts';

export interface ImportStatement {
  readonly node: Node;
  /** Everything it imports. */
  readonly facts: readonly ImportFact[];
}

/** Throws E_AST_EDIT for a language whose imports are not known. */
export function importForms(draft: Draft): ImportForms {
  if (draft.edit.imports !== undefined) return draft.edit.imports;
  throw refuseEdit('no_imports', `Imports of this language are not edited: ${draft.profile.label}`, {
    path: draft.path,
    next: 'use file_patch',
  });
}

/** In file order; what is imported inside of expressions is not among them. */
export function importStatements(draft: Draft): readonly ImportStatement[] {
  const { statements } = importForms(draft);
  const found = new Map<number, { node: Node; facts: ImportFact[] }>();
  for (const fact of draft.facts.imports) {
    if (fact.reexport === true) continue;
    const at = draft.source.toOffset(fact.start);
    let node: Node | null = draft.parsed.tree.rootNode.descendantForIndex(at, at);
    while (node !== null && !statements.includes(node.type)) node = node.parent;
    if (node === null) continue;
    const known = found.get(node.startIndex);
    if (known === undefined) found.set(node.startIndex, { node, facts: [fact] });
    else known.facts.push(fact);
  }
  return [...found.values()].sort((left, right) => left.node.startIndex - right.node.startIndex);
}

/** The list of names in a statement: a node inside of it, or the statement itself. */
export function listOf({ node }: ImportStatement, { lists }: ImportForms): Node | undefined {
  if (lists.includes(node.type)) return node;
  return node.descendantsOfType([...lists]).find((one) => one !== null) ?? undefined;
}

/** The names of a list, without what comes before the list in the same node. */
export function elementsOf(list: Node): readonly Node[] {
  const all = children(list);
  const from = all.findIndex((child) => child.type === 'import');
  return all.slice(from + 1).filter((child) => child.isNamed && !child.type.includes('comment'));
}

/** The file's way of quoting and ending imports. */
export function importHabits(
  draft: Draft,
  statements: readonly ImportStatement[],
): { readonly quote: string; readonly semicolon: string } {
  const { quotes } = importForms(draft);
  const [first = "'"] = quotes;
  const counts = quotes.map((quote) => ({
    quote,
    count: statements.filter(({ node }) => node.text.includes(quote)).length,
  }));
  const best = counts.reduce((most, one) => (one.count > most.count ? one : most), { quote: first, count: 0 });
  const ends = statements.length > 0 ? statements.map(({ node }) => node.text) : draft.text.split(/\r?\n/);
  const told = ends.filter((line) => /[\w)'"};]$/.test(line.trimEnd()));
  const ended = told.filter((line) => line.trimEnd().endsWith(';')).length;
  return { quote: best.quote, semicolon: told.length === 0 || ended * 3 >= told.length ? ';' : '' };
}

/**
 * Where a new import statement goes: after the imports at the top, else below what must stay above them.
 *
 * Lines to be added, without a line break at their end.
 */
export function placeImport(draft: Draft, lines: string, source: string): TextEdit {
  const isFirst = importForms(draft).first.includes(source);
  const statements = importStatements(draft);
  const { text, style } = draft;
  const last = isFirst
    ? statements.findLast(({ facts }) => facts[0]?.source === source)?.node
    : lastOfRun(draft, statements);
  if (last !== undefined) {
    // Some grammars count the line break to the statement.
    const at = lineEnd(text, last.startIndex + last.text.trimEnd().length);
    return { start: at, end: at, text: style.newline + lines };
  }
  const top = endOfHeader(draft);
  const { newline } = style;
  if (top === undefined) {
    const at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
    const isFollowed = !isBlank(text.slice(at));
    const gap = isFollowed && !/^\s*\n/.test(text.slice(at)) ? newline + newline : newline;
    return { start: at, end: at, text: lines + gap };
  }
  const isTight =
    !isBlank(text.slice(top)) && !isBlank(text.slice(nextLine(text, top), lineEnd(text, nextLine(text, top))));
  const tail = isTight ? newline : '';
  const isEnd = isBlank(text.slice(top));
  const lead = text.slice(0, top).trim() === '<?php' || isEnd ? newline : newline + newline;
  return { start: top, end: top, text: (isEnd ? newline : '') + lead + lines + tail };
}

/** The last statement of the first run of imports: others further down have their reasons. */
function lastOfRun(draft: Draft, statements: readonly ImportStatement[]): Node | undefined {
  const starts = new Set(statements.map(({ node }) => node.startIndex));
  let last = statements[0]?.node;
  let next = last?.nextNamedSibling ?? null;
  while (next !== null && last !== undefined) {
    if (starts.has(next.startIndex)) last = next;
    else if (!draft.profile.kinds.comment.includes(next.type)) break;
    next = next.nextNamedSibling;
  }
  return last;
}

/** End of the last line of comments, docstring, package clause and the like; undefined for a file without such lines. */
function endOfHeader(draft: Draft): number | undefined {
  const { text, profile } = draft;
  const { header } = importForms(draft);
  const [first] = draft.facts.nodes;
  const code = first === undefined ? text.length : draft.units(first.fullSpan).start;
  let end: number | undefined;
  for (const child of draft.parsed.tree.rootNode.namedChildren) {
    if (child === null || child.startIndex >= code) break;
    const isComment = profile.kinds.comment.includes(child.type);
    if (!isComment && !header.includes(child.type) && !isStringStatement(draft, child)) break;
    if (isComment && !standsAlone(text, child)) continue;
    end = lineEnd(text, child.startIndex + child.text.trimEnd().length);
  }
  return end;
}

/** A comment with a blank line below is about the file, not about what follows; so are inner docs and directives. */
function standsAlone(text: string, { endIndex, text: own }: Node): boolean {
  if (/^(?:#!|\/\/!|\/\*!)/.test(own) || /coding[:=]|frozen_string_literal/.test(own)) return true;
  let line = own.endsWith('\n') ? endIndex : nextLine(text, endIndex);
  while (line < text.length) {
    const content = text.slice(line, lineEnd(text, line));
    if (isBlank(content)) return true;
    if (!/^\s*(?:\/\/|\/?\*|#|--)/.test(content)) return false;
    line = nextLine(text, line);
  }
  return true;
}

/** A docstring of the file, or `'use strict'`. */
function isStringStatement({ profile }: Draft, { type, namedChildCount, firstNamedChild }: Node): boolean {
  return (
    type === 'expression_statement' &&
    namedChildCount === 1 &&
    firstNamedChild !== null &&
    profile.kinds.string.includes(firstNamedChild.type)
  );
}
