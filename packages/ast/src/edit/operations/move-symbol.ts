/**
 * Moves a declaration of a module to another file and fixes the imports on both sides.
 *
 * What cannot be followed with certainty is refused: members, default exports, names that reach others through the old
 * module. With a re-export the old module still offers the name and no other file changes.
 */
import type { NodeFact } from '../../contracts/facts.ts';
import { findReferences, type Reference } from '../../scope/find-references.ts';
import { commitEdits, commitFirst, keepsDeclarations } from '../commit-edits.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import { addImportEdits, removeImportEdits, statementOf } from '../import-edits.ts';
import { carryOver, chooseDestination, judgeDestination, requireMovable } from '../move/carry-over.ts';
import { isType, type Moving, moduleNames } from '../move/module-names.ts';
import { neededNames } from '../move/needed-names.ts';
import { redirectImporters } from '../move/redirect-importers.ts';
import { removeDeclaration } from '../remove-declaration.ts';
import { type Planner, requireEditable, type Work } from '../work.ts';

export const moveSymbol: Planner<'move_symbol'> = async (operation, work) => {
  const target = await work.desk.target(operation);
  const { draft, node, at } = target;
  requireEditable(draft, operation);
  const forms = requireMovable(target);
  const to = await chooseDestination(target, operation, work);
  const isFolder = forms.by === 'folder';
  const references = isFolder ? [] : await referencesOf(target, work);
  const isUsedHere = references.some(
    ({ path, start, role }) => path === draft.path && role !== 'definition' && !isInside(node, start),
  );
  const names = moduleNames(forms.by, work);
  const needed = neededNames(draft, node);
  const moving: Moving = { target, to, forms, names, needed, references, isUsedHere, operation };
  judgeDestination(moving);
  judgeCycle(moving, work);
  const family = draft.facts.nodes.filter((one, place) => place === at || isBelow(draft.facts.nodes, one, at));
  if (!operation.reexport && !isFolder) await redirectImporters(moving, work);
  const start = await carryOver(moving, work);
  await leaveBehind(moving, work);
  const moved = to.facts.nodes.filter((one) => one.span.start >= start);
  const renamedIds = Object.fromEntries(family.map(({ id }, place) => [id, moved[place]?.id ?? id]));
  return { confidence: isFolder ? 'tree' : 'resolver', renamedIds, movedTo: to.path };
};

function isBelow(nodes: readonly NodeFact[], { parent }: NodeFact, at: number): boolean {
  for (let up = parent; up !== -1; up = nodes[up]?.parent ?? -1) if (up === at) return true;
  return false;
}

function isInside({ fullSpan }: NodeFact, start: number): boolean {
  return fullSpan.start <= start && start < fullSpan.end;
}

async function referencesOf({ draft, node }: Target, { desk }: Work): Promise<readonly Reference[]> {
  const { engine, signal } = desk.parts;
  const found = await findReferences({
    files: desk.files,
    engine,
    target: { path: draft.path, nameStart: node.nameSpan.start, name: node.name },
    ...(signal === undefined ? {} : { signal }),
  });
  if (found.refused === undefined) return found.references;
  throw refuseEdit(found.refused.reason, found.refused.message, {
    path: found.refused.at?.path ?? draft.path,
    next: 'fix what keeps its uses from being found, or move it by hand',
  });
}

/** Each of the two files would import from the other. */
function judgeCycle({ target, to, forms, needed, isUsedHere, operation }: Moving, { warn }: Work): void {
  const goesBack = isUsedHere || operation.reexport;
  if (!goesBack || needed.declarations.length === 0) return;
  const problem = `the two files would import each other: ${target.draft.path}, ${to.path}`;
  if (forms.cycles === 'allowed') warn(problem);
  else {
    throw refuseEdit('import_cycle', `Move is refused, ${problem}`, {
      path: to.path,
      next: 'move what both need to a third file first',
    });
  }
}

/** Takes the moved declaration out of its old file: imports that only it used go with it, its uses get one. */
async function leaveBehind(moving: Moving, { warn }: Work): Promise<void> {
  const { target, to, forms, names, needed, operation, isUsedHere } = moving;
  const { draft, node } = target;
  const source = forms.by === 'folder' ? '' : await names.nameFor(draft, to.path);
  commitFirst(draft, removeDeclaration(draft, node), { warn, check: keepsDeclarations(draft, node.fullSpan) });
  if (forms.by !== 'folder') {
    const wanted = { source, name: node.name, typeOnly: isType(node) };
    if (operation.reexport && forms.reexport !== undefined) {
      commitEdits(draft, [statementOf(draft, wanted, forms.reexport)], { warn });
    }
    const isBound = isUsedHere || (operation.reexport && forms.reexport === undefined);
    const edits = isBound ? addImportEdits(draft, wanted) : undefined;
    if (edits !== undefined) commitEdits(draft, edits, { warn });
  }
  for (const one of needed.onlyHere) {
    const edits = removeImportEdits(draft, { source: one.source, name: one.star === true ? '*' : one.name });
    if (edits.length > 0) commitEdits(draft, edits, { warn });
  }
}
