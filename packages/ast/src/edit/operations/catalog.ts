/** Every operation, one line each. */
import type { SingleOperation } from '../edit-operations.ts';
import type { Outcome, Planner, Work } from '../work.ts';
import { codeAction } from './code-action.ts';
import { deleteSymbol } from './delete-symbol.ts';
import { addImport, removeImport } from './edit-imports.ts';
import { insertAfter, insertBefore } from './insert-beside.ts';
import { insertMember } from './insert-member.ts';
import { moveSymbol } from './move-symbol.ts';
import { renameSymbol } from './rename-symbol.ts';
import { replaceBody } from './replace-body.ts';
import { replaceSymbol } from './replace-symbol.ts';
import { rewrite } from './rewrite.ts';
import { setDoc } from './set-doc.ts';

type Planners = { readonly [Name in SingleOperation['operation']]: Planner<Name> };

const PLANNERS = {
  replace_body: replaceBody,
  replace_symbol: replaceSymbol,
  insert_before: insertBefore,
  insert_after: insertAfter,
  insert_member: insertMember,
  add_import: addImport,
  remove_import: removeImport,
  rename_symbol: renameSymbol,
  delete_symbol: deleteSymbol,
  rewrite,
  code_action: codeAction,
  move_symbol: moveSymbol,
  set_doc: setDoc,
} as Planners;

export function planOperation(operation: SingleOperation, work: Work): Promise<Outcome> {
  const planner = PLANNERS[operation.operation] as (given: SingleOperation, work: Work) => Promise<Outcome>;
  return planner(operation, work);
}
