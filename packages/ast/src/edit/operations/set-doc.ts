/** Writes or replaces the documentation of a declaration in the form its language has for it. */
import type { ToolError } from '@tool-runtime/protocol';
import type { NodeFact } from '../../contracts/facts.ts';
import type { LanguageProfile } from '../../profile/profile.ts';
import { commitFirst, keepsDeclarations, type TrialCheck } from '../commit-edits.ts';
import { docstringOf, withComments } from '../declaration-lines.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import { trimBlock } from '../fit-block.ts';
import { bodyNode } from '../syntax-node.ts';
import type { TextEdit } from '../text-edit.ts';
import { indentAt, isBlank, lineStart } from '../text-style.ts';
import { type Planner, requireEditable } from '../work.ts';

type Form = LanguageProfile['doc']['form'];

export const setDoc: Planner<'set_doc'> = async (operation, { desk, warn }) => {
  const target = await desk.target(operation);
  const { draft } = target;
  requireEditable(draft, operation);
  const { doc } = draft.profile;
  if (doc.by === 'none') throw noDocs(target);
  const words = wordsOf(operation.text, doc.form);
  const edits = doc.by === 'docstring' ? docstringEdits(target, words) : leadingEdits(target, words);
  const keeps = keepsDeclarations(draft);
  const check: TrialCheck = (trial, edits) => keeps(trial, edits) ?? isDocumented(target, trial.facts.nodes);
  commitFirst(draft, [edits], { warn, check });
  return { confidence: 'tree' };
};

/** Lines without comment signs. Text that would end the comment is refused. */
function wordsOf(text: string, { close, open }: Form): readonly string[] {
  const lines = trimBlock(text)
    .split('\n')
    .map((line) => line.trimEnd());
  const end = close.trim();
  const isOpenEnded = open === '' || !open.trim().startsWith(end.slice(0, 3));
  const clash = end !== '' && !/^\/\/\//.test(end) && lines.some((line) => line.includes(end));
  if (lines.join('').trim() === '' || clash) {
    throw refuseEdit('invalid_doc', clash ? `Doc text ends its own comment: ${end}` : 'Doc text is empty', {
      path: 'text',
      next: isOpenEnded ? 'write it without the signs that end a comment' : 'write it without quotes of that kind',
    });
  }
  return lines;
}

function leadingEdits({ draft, node }: Target, words: readonly string[]): readonly TextEdit[] {
  const { text, profile, style } = draft;
  const { start } = draft.units(node.span);
  const indent = indentAt(text, start);
  const lines = docLines(words, profile.doc.form);
  const fresh = joinLines(lines, indent, style.newline);
  const old = docCommentsOf(draft, node);
  const [first, last] = [old[0], old.at(-1)];
  if (first !== undefined && last !== undefined) return [{ start: first.start, end: last.end, text: fresh }];
  const at = aboveDirectives(draft, draft.units(node.fullSpan).start);
  const isFirst = isBlank(text.slice(lineStart(text, at), at));
  const lead = isFirst ? '' : style.newline + indent;
  return [{ start: at, end: at, text: lead + fresh + style.newline + indent }];
}

/** Comments that are orders to a tool stay next to the declaration. */
function aboveDirectives(draft: Draft, at: number): number {
  const { exclude } = draft.profile.doc;
  const line = lineStart(draft.text, at);
  if (exclude === undefined || !isBlank(draft.text.slice(line, at))) return at;
  const isDirective = new RegExp(exclude, 'u');
  const { start } = withComments(draft, { start: line, end: line }, (comment) => isDirective.test(comment));
  return start === line ? at : start + indentAt(draft.text, start).length;
}

function joinLines(lines: readonly string[], indent: string, newline: string): string {
  return lines.map((line, at) => (at === 0 || line === '' ? line : indent + line)).join(newline);
}

/** One line where the form can be closed on it, else one line each. */
function docLines(words: readonly string[], { open, line, close }: Form): readonly string[] {
  const isBlock = open.startsWith('/*') || open.startsWith('<!--');
  if (words.length === 1 && isBlock) return [`${open} ${words[0]} ${close.trim()}`];
  const body = words.map((word) => (line + word).trimEnd());
  return [open, ...body, close].filter((one, at) => one !== '' || (at > 0 && at <= body.length));
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Doc comments of a declaration that are next to each other, from the last upwards. */
function docCommentsOf(draft: Draft, node: NodeFact): readonly Range[] {
  const { profile, parsed, text } = draft;
  const full = draft.units(node.fullSpan);
  const { start } = draft.units(node.span);
  const isDoc = new RegExp(profile.doc.match, 'u');
  const isNone = profile.doc.exclude === undefined ? undefined : new RegExp(profile.doc.exclude, 'u');
  const found: Range[] = [];
  for (const one of parsed.tree.rootNode.descendantsOfType(profile.kinds.comment)) {
    if (one === null || one.startIndex < full.start || one.endIndex > start) continue;
    if (isNone?.test(one.text) === true || !isDoc.test(one.text)) continue;
    // Some grammars count the line break to the comment.
    found.push({ start: one.startIndex, end: one.startIndex + one.text.trimEnd().length });
  }
  let first = found.length - 1;
  while (first > 0 && isBlank(text.slice(found[first - 1]?.end, found[first]?.start))) first--;
  return found.slice(Math.max(0, first));
}

function docstringEdits({ draft, node }: Target, words: readonly string[]): readonly TextEdit[] {
  const { text, style, profile } = draft;
  const body = bodyNode(draft, node);
  if (body === undefined) throw noDocs({ draft, node, at: 0 });
  const isOwnLine = isBlank(text.slice(lineStart(text, body.startIndex), body.startIndex));
  const indent = isOwnLine
    ? indentAt(text, body.startIndex)
    : indentAt(text, draft.units(node.span).start) + style.indent;
  const { open, close } = profile.doc.form;
  const inner = joinLines(words, indent, style.newline);
  const prefix = inner.includes('\\') ? 'r' : '';
  const room = words.length === 1 && /["\\]$/.test(inner) ? ' ' : '';
  const end = words.length === 1 ? room : style.newline + indent;
  const fresh = prefix + open + inner + end + close;
  const old = docstringOf(draft, node);
  if (old !== undefined) return [{ ...old, text: fresh }];
  if (isOwnLine) return [{ start: body.startIndex, end: body.startIndex, text: fresh + style.newline + indent }];
  const from = body.startIndex - (/[ \t]*$/.exec(text.slice(0, body.startIndex))?.[0].length ?? 0);
  const lead = style.newline + indent;
  return [{ start: from, end: body.startIndex, text: lead + fresh + lead }];
}

function isDocumented({ draft, node }: Target, after: readonly NodeFact[]): ToolError | undefined {
  if (after.find(({ id }) => id === node.id)?.hasDoc === true) return undefined;
  return refuseEdit('doc_not_accepted', `Text would not become the ${draft.profile.doc.label}: ${node.name}`, {
    path: draft.path,
    next: 'write plain text without comment signs',
  });
}

function noDocs({ draft, node }: Target): ToolError {
  return refuseEdit('no_doc_form', `Nothing can be documented here: ${node.name}`, {
    path: draft.path,
    next: 'write a comment with file_patch',
  });
}
