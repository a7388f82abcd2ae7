/** Puts the new name into the drafts and says which ids became which. */
import type { ToolError } from '@tool-runtime/protocol';
import type { NodeFact } from '../../contracts/facts.ts';
import { commitEdits, type TrialCheck } from '../commit-edits.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import { LOCAL } from '../locate-target.ts';
import type { Work } from '../work.ts';
import type { NameEdit } from './find-occurrences.ts';

export async function applyNames(
  target: Target,
  newName: string,
  edits: readonly NameEdit[],
  { desk, warn }: Work,
): Promise<Readonly<Record<string, string>>> {
  const renamed: Record<string, string> = {};
  const { name, nameSpan } = target.node;
  const home = target.draft.path;
  if (!edits.some(({ path, start, end }) => path === home && start <= nameSpan.start && nameSpan.end <= end)) {
    throw refuseEdit('declaration_kept', `Rename would not reach the declaration itself: ${name}`, {
      path: home,
      next: 'try again, or use another provider',
    });
  }
  for (const [path, own] of Map.groupBy(edits, (edit) => edit.path)) {
    const draft = await desk.draft(path);
    const before = draft.facts.nodes;
    const textEdits = own.map((edit) => textEdit(draft, edit, name));
    const isDeclared = path === home && target.at !== LOCAL;
    const check = isDeclared ? keepsShape(draft, { at: target.at, newName }) : keepsShape(draft);
    commitEdits(draft, textEdits, { warn, check });
    Object.assign(renamed, changedIds(before, draft.facts.nodes));
  }
  return renamed;
}

/** The replaced text must be the old name: the plan may have been made for other content. */
function textEdit(draft: Draft, edit: NameEdit, name: string): { start: number; end: number; text: string } {
  const { start, end } = draft.units(edit);
  if (draft.text.slice(start, end).includes(name)) return { start, end, text: edit.newText };
  throw refuseEdit('plan_misses', `Plan does not fit the file: ${edit.path}`, {
    path: edit.path,
    next: 'try again: the file may be changing',
  });
}

function keepsShape(draft: Draft, renamed?: { readonly at: number; readonly newName: string }): TrialCheck {
  return ({ facts }) => {
    const before = draft.facts.nodes;
    const isSame =
      facts.nodes.length === before.length && before.every((node, at) => node.type === facts.nodes[at]?.type);
    if (!isSame) return wrong(draft, 'Rename would change more than a name');
    if (renamed === undefined || facts.nodes[renamed.at]?.name === renamed.newName) return undefined;
    return wrong(draft, 'Rename would not reach the declaration itself');
  };
}

function wrong({ path }: Draft, problem: string): ToolError {
  return refuseEdit('plan_misses', `${problem}: ${path}`, { path, next: 'try again, or use another provider' });
}

/** A rename keeps the declarations of a file in their order. */
function changedIds(before: readonly NodeFact[], after: readonly NodeFact[]): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const [at, { id }] of before.entries()) {
    const now = after[at]?.id;
    if (now !== undefined && now !== id) changed[id] = now;
  }
  return changed;
}
