/** Whether a declaration can be moved at all, and the file it goes to. */
import type { ToolError } from '@tool-runtime/protocol';
import type { NodeFact } from '../../contracts/facts.ts';
import { familyOf } from '../../scope/modules/catalog.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import type { OperationOf } from '../edit-operations.ts';
import type { MoveForms } from '../edit-profile.ts';
import { folderOf, joinPath, stemOf } from '../file-paths.ts';
import { requireEditable, type Work } from '../work.ts';

export function requireMovable({ draft, node }: Target): MoveForms {
  const { move } = draft.edit;
  if (move === undefined) throw cannotMove(draft, node, 'Declarations of this language are not moved');
  if (node.parent !== -1 || node.container !== '') {
    throw cannotMove(draft, node, 'Only declarations of a module are moved');
  }
  const { start, end } = draft.units(node.span);
  if (/^export\s+default\b/.test(draft.text.slice(start, end))) {
    throw cannotMove(draft, node, 'Default exports are not moved');
  }
  const isTwin = draft.facts.nodes.some((one) => one !== node && one.parent === -1 && one.name === node.name);
  if (isTwin) throw cannotMove(draft, node, 'It is declared more than once');
  return move;
}

export function cannotMove({ path }: Draft, { name, line }: NodeFact, problem: string): ToolError {
  return refuseEdit('cannot_move', `${problem}: ${name}`, { path, next: 'move it by hand', details: { line } });
}

/** Opened, or created when there is none. */
export async function chooseDestination(
  { draft, node }: Target,
  operation: OperationOf<'move_symbol'>,
  { desk }: Work,
): Promise<Draft> {
  const path = joinPath('', operation.to_file);
  const language = path === undefined ? undefined : desk.parts.engine.detect(path);
  if (path === undefined || path === draft.path || !isAlike(language, draft.parser.language)) {
    throw refuseEdit('bad_destination', `Not a file it can be moved to: ${operation.to_file}`, {
      path: 'to_file',
      next: 'name another file of the same language',
    });
  }
  const to = desk.files.exists(path) ? await desk.draft(path) : await desk.create(path);
  requireEditable(to, operation);
  if (draft.edit.move?.by === 'folder') requireSamePackage(draft, node, to);
  return to;
}

function isAlike(language: string | undefined, own: string): boolean {
  return language === own || (familyOf(language) !== undefined && familyOf(language) === familyOf(own));
}

/** The text of the clause that says which package a file is of. */
export function packageOf(draft: Draft): string | undefined {
  const kinds = draft.edit.move?.package ?? [];
  return draft.parsed.tree.rootNode.namedChildren.find((child) => child !== null && kinds.includes(child.type))?.text;
}

function requireSamePackage(draft: Draft, node: NodeFact, to: Draft): void {
  const isSame = to.before === null || packageOf(to) === packageOf(draft);
  if (!isSame || folderOf(draft.path) !== folderOf(to.path)) {
    throw cannotMove(draft, node, 'It can only be moved within its package');
  }
  const alone = draft.edit.move?.alone;
  const { start, end } = draft.units(node.span);
  const isAlone = alone !== undefined && new RegExp(alone, 'u').test(draft.text.slice(start, end));
  if (isAlone && stemOf(to.path) !== node.name) throw cannotMove(draft, node, 'Its file must have its name');
}
