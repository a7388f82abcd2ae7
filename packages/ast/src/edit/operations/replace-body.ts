/**
 * Replaces what a declaration does and keeps what it is: signature, docs, attributes stay.
 *
 * Brackets around the new body are optional. Which way of writing it is right is decided by the parser: the declaration
 * must still be there and the new text must be its body.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { commitFirst, keepsDeclarations, type TrialCheck } from '../commit-edits.ts';
import { docstringOf } from '../declaration-lines.ts';
import type { Trial } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import { newText } from '../fit-block.ts';
import { isCommentOnly } from '../syntax-node.ts';
import type { TextEdit } from '../text-edit.ts';
import { indentAt, isBlank, lineStart } from '../text-style.ts';
import { type Planner, requireEditable } from '../work.ts';

export const replaceBody: Planner<'replace_body'> = async (operation, { desk, warn }) => {
  const target = await desk.target(operation);
  const { draft, node } = target;
  requireEditable(draft, operation);
  if (node.bodySpan === undefined) throw noBody(target);
  const body = draft.units(node.bodySpan);
  const ways = waysToWrite(target, body, operation.text);
  const replaced = node.bodySpan;
  const keeps = keepsDeclarations(draft, replaced);
  const check: TrialCheck = (trial, edits) => keeps(trial, edits) ?? bodyIsNew(target, trial, edits);
  commitFirst(draft, ways, { warn, check });
  return { confidence: 'tree' };
};

interface Range {
  readonly start: number;
  readonly end: number;
}

function waysToWrite({ draft, node }: Target, body: Range, given: string): readonly (readonly TextEdit[])[] {
  const { text, style } = draft;
  const old = text.slice(body.start, body.end);
  const outer = indentAt(text, draft.units(node.span).start);
  const inner = outer + style.indent;
  const put = (fresh: string, range: Range = body): readonly TextEdit[] => [{ ...range, text: fresh }];
  const asIs = newText(draft, given, outer);
  const isOneLine = !old.includes('\n') && !asIs.includes('\n');
  const block = newText(draft, given, inner);
  const wrapped = isOneLine ? `{ ${asIs} }` : `{${style.newline}${inner}${block}${style.newline}${outer}}`;
  const isBracketed = asIs.startsWith('{') && asIs.endsWith('}');
  if (old.startsWith('{')) return isBracketed ? [put(asIs), put(wrapped)] : [put(wrapped)];
  const sign = /^=>?\s*/.exec(old)?.[0];
  if (sign !== undefined) return /^[{=]/.test(asIs) ? [put(asIs)] : [put(sign + asIs), put(wrapped)];
  if (!isBlank(text.slice(lineStart(text, body.start), body.start))) {
    const below = `${style.newline}${inner}${block}`;
    const from = body.start - (/[ \t]*$/.exec(text.slice(0, body.start))?.[0].length ?? 0);
    return [put(asIs), put(below, { start: from, end: body.end }), put(wrapped)];
  }
  return [keepDocstring(draft, node, body, newText(draft, given, indentAt(text, body.start)))];
}

/** A docstring stays unless the new body brings its own. */
function keepDocstring(draft: Target['draft'], node: Target['node'], body: Range, fresh: string): readonly TextEdit[] {
  const doc = docstringOf(draft, node);
  if (doc === undefined || /^[rRuUbBfF]{0,2}["']/.test(fresh)) return [{ ...body, text: fresh }];
  const gap = draft.style.newline + indentAt(draft.text, body.start);
  return [{ start: doc.end, end: body.end, text: gap + fresh }];
}

/** The declaration is the same and its body reaches to the end of the new text, apart from comments after it. */
function bodyIsNew(
  { draft, node, at }: Target,
  { facts, parsed }: Trial,
  edits: readonly TextEdit[],
): ToolError | undefined {
  const now = facts.nodes[at];
  const [edit] = edits;
  const end = (edit?.start ?? 0) + (edit?.text.length ?? 0);
  const rest = parsed.source.text.slice(parsed.source.toOffset(now?.span.end ?? 0), end);
  const isWhole = isBlank(rest) || isCommentOnly(draft, rest);
  if (now !== undefined && now.id === node.id && now.bodySpan !== undefined && isWhole) return undefined;
  return refuseEdit('body_not_accepted', `New text is not a body of this declaration: ${node.name}`, {
    path: draft.path,
    next: 'give the statements of the body only, with or without brackets',
  });
}

function noBody({ draft, node }: Target): ToolError {
  return refuseEdit('no_body', `Declaration has no body: ${node.name}`, {
    path: draft.path,
    next: 'use replace_symbol',
    details: { line: node.line },
  });
}
