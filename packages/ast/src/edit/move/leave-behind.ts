/** Takes the moved declaration out of its old file: imports that only it used go with it, its uses get one. */
import { commitEdits, commitFirst, keepsDeclarations } from '../commit-edits.ts';
import { addImportEdits, removeImportEdits, statementOf } from '../import-edits.ts';
import { removeDeclaration } from '../remove-declaration.ts';
import type { Work } from '../work.ts';
import { isType, type Moving } from './move-setting.ts';

export async function leaveBehind(moving: Moving, { warn }: Work): Promise<void> {
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
