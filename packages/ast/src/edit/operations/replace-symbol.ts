/** Replaces a whole declaration. The new text must declare the same name, unless another is allowed. */
import type { ToolError } from '@tool-runtime/protocol';
import type { ByteSpan, NodeFact } from '../../contracts/facts.ts';
import { commitEdits, keepsDeclarations, type TrialCheck } from '../commit-edits.ts';
import type { Trial } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import { newText } from '../fit-block.ts';
import { indentAt } from '../text-style.ts';
import { type Planner, requireEditable } from '../work.ts';

export const replaceSymbol: Planner<'replace_symbol'> = async (operation, { desk, warn }) => {
  const target = await desk.target(operation);
  const { draft, node } = target;
  requireEditable(draft, operation);
  const span = operation.include_doc ? node.fullSpan : node.span;
  const range = draft.units(span);
  const text = newText(draft, operation.text, indentAt(draft.text, range.start));
  const fresh = { start: span.start, end: span.start + Buffer.byteLength(text) };
  const keeps = keepsDeclarations(draft, span);
  let declared: readonly NodeFact[] = [];
  const check: TrialCheck = (trial, edits) => {
    declared = declaredIn(trial.facts.nodes, fresh);
    const wrong = operation.allow_rename ? undefined : otherName(target, declared);
    const doubled = operation.include_doc ? undefined : secondDoc(target, trial, declared[0]);
    return nothing(target, declared) ?? wrong ?? doubled ?? keeps(trial, edits);
  };
  commitEdits(draft, [{ ...range, text }], { warn, check });
  const [only] = declared;
  const isSame = only === undefined || declared.length > 1 || only.id === node.id;
  return { confidence: 'tree', renamedIds: isSame ? {} : { [node.id]: only.id } };
};

/** Declarations in a range that are not inside another declaration of the range. */
function declaredIn(nodes: readonly NodeFact[], { start, end }: ByteSpan): readonly NodeFact[] {
  const isInside = (node: NodeFact | undefined) =>
    node !== undefined && start <= node.span.start && node.span.end <= end;
  return nodes.filter((node) => isInside(node) && !isInside(nodes[node.parent]));
}

function nothing({ draft, node }: Target, declared: readonly NodeFact[]): ToolError | undefined {
  if (declared.length > 0) return undefined;
  return refuseEdit('declares_nothing', `New text declares nothing: ${node.name}`, {
    path: draft.path,
    next: 'give the whole declaration, or use replace_body or delete_symbol',
  });
}

function otherName({ draft, node }: Target, declared: readonly NodeFact[]): ToolError | undefined {
  const other = declared.find(({ name }) => name !== node.name);
  if (other === undefined) return undefined;
  return refuseEdit('declares_other_name', `New text declares another name: ${other.name} instead of ${node.name}`, {
    path: draft.path,
    next: 'use rename_symbol or insert_before, or pass allow_rename',
    details: { name: other.name },
  });
}

/** A doc comment between the start of the new text and its declaration, below the one that stays. */
function secondDoc({ draft, node }: Target, { parsed }: Trial, first: NodeFact | undefined): ToolError | undefined {
  if (!node.hasDoc || first === undefined || draft.profile.doc.by !== 'leading') return undefined;
  const [start, end] = [draft.source.toOffset(node.span.start), parsed.source.toOffset(first.span.start)];
  const isDoc = new RegExp(draft.profile.doc.match, 'u');
  const comments = parsed.tree.rootNode.descendantsOfType(draft.profile.kinds.comment);
  const brings = comments.some(
    (one) => one !== null && start <= one.startIndex && one.endIndex <= end && isDoc.test(one.text),
  );
  if (!brings) return undefined;
  return refuseEdit('doubled_doc', `New text brings a second doc comment: ${node.name}`, {
    path: draft.path,
    next: 'pass include_doc to replace the first, or leave it out',
  });
}
