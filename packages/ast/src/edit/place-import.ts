/** Where a new import statement goes: after the imports at the top, else below what must stay above them. */
import type { Node } from 'web-tree-sitter';
import type { Draft } from './draft.ts';
import { type ImportStatement, importForms, importStatements } from './import-statements.ts';
import type { TextEdit } from './text-edit.ts';
import { isBlank, lineEnd, nextLine } from './text-style.ts';

/** Lines to be added, without a line break at their end. */
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

/** End of the last line of comments, docstring, package clause and the like; undefined if there is none. */
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
