/** Adds an import, or takes one out. */
import { commitEdits } from '../commit-edits.ts';
import type { Draft } from '../draft.ts';
import { refuseEdit } from '../edit-failures.ts';
import { addImportEdits, removeImportEdits } from '../import-edits.ts';
import { type Planner, requireEditable } from '../work.ts';

export const addImport: Planner<'add_import'> = async (operation, { desk, warn }) => {
  const { file, source, name, alias, type_only: typeOnly } = operation;
  const draft = await desk.draft(file);
  requireEditable(draft, operation);
  const edits = addImportEdits(draft, { source, name, alias, typeOnly });
  if (edits === undefined) warn(`imported already: ${name ?? source} in ${file}`);
  else commitEdits(draft, edits, { warn });
  return { confidence: 'tree' };
};

export const removeImport: Planner<'remove_import'> = async (operation, { desk, warn }) => {
  const { file, source, name } = operation;
  const draft = await desk.draft(file);
  requireEditable(draft, operation);
  const names = localNames(draft, source, name);
  const edits = removeImportEdits(draft, { source, name });
  if (edits.length === 0) {
    throw refuseEdit(
      'no_such_import',
      `File has no such import: ${name === undefined ? source : `${name} from ${source}`}`,
      {
        path: file,
        next: 'look at the imports of the file',
      },
    );
  }
  commitEdits(draft, edits, { warn });
  for (const local of names) if (mentions(draft, local)) warn(`still used without its import: ${local} in ${file}`);
  return { confidence: 'tree' };
};

function localNames({ facts }: Draft, source: string, name: string | undefined): readonly string[] {
  return facts.imports
    .filter(
      (fact) =>
        fact.source === source &&
        fact.reexport !== true &&
        (name === undefined || (name === '*' ? fact.star === true : fact.name === name)),
    )
    .map((fact) => fact.alias ?? fact.name)
    .filter((local): local is string => local !== undefined && local !== 'default');
}

/** The name as a token of its own; comments and strings do not count. */
function mentions({ parsed, profile }: Draft, name: string): boolean {
  const { value, type, shorthand } = profile.kinds;
  const kinds = [...value, ...type, ...shorthand];
  return parsed.tree.rootNode.descendantsOfType(kinds).some((node) => node !== null && node.text === name);
}
