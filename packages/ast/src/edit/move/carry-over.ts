/** Writes the moved declaration into its new file, with the imports it needs there. */
import type { ToolError } from '@tool-runtime/protocol';
import type { NodeFact } from '../../contracts/facts.ts';
import { familyOf } from '../../scope/modules/catalog.ts';
import { resolveScopes } from '../../scope/resolve-scopes.ts';
import { commitEdits } from '../commit-edits.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import type { OperationOf } from '../edit-operations.ts';
import type { MoveForms } from '../edit-profile.ts';
import { addImportEdits, removeImportEdits, type WantedImport } from '../import-edits.ts';
import { usualGap } from '../place-beside.ts';
import { isBlank } from '../text-style.ts';
import { requireEditable, type Work } from '../work.ts';
import { folderOf, isType, joinPath, type Moving, stemOf } from './module-names.ts';
import { localName } from './needed-names.ts';

/** The new file must not mean something else by a name that comes along, and must be able to import what it lacks. */
export function judgeDestination({ target, to, forms, needed, names }: Moving): void {
  const { draft, node } = target;
  const hidden = forms.export === undefined ? undefined : needed.declarations.find(({ exported }) => !exported);
  if (hidden !== undefined) {
    throw refuseEdit('needs_export', `It uses a declaration that its file does not export: ${hidden.name}`, {
      path: draft.path,
      next: 'export or move that one first',
      details: { name: hidden.name, line: hidden.line },
    });
  }
  if (forms.by === 'folder') return;
  const taken = new Set(to.facts.nodes.filter(({ parent }) => parent === -1).map(({ name }) => name));
  const own = to.parser.queries.locals === undefined ? undefined : resolveScopes(to.parsed).scopes[0];
  for (const name of own?.bindings.keys() ?? []) taken.add(name);
  for (const fact of to.facts.imports) {
    if (names.isFile(fact.source, to.path, draft.path) && fact.alias === undefined) taken.delete(localName(fact));
  }
  const clash = [node, ...needed.declarations].find(({ name }) => taken.has(name));
  if (clash === undefined) return;
  throw refuseEdit('name_conflict', `Name is taken in the other file: ${clash.name}`, {
    path: to.path,
    next: 'rename one of them first',
  });
}

/** Answers where the moved declaration starts, in bytes. */
export async function carryOver(moving: Moving, { warn }: Work): Promise<number> {
  const { target, to, names } = moving;
  const { draft, node } = target;
  const { newline } = to.style;
  const wanted = await importsFor(moving);
  const text = movedText(moving);
  const header = to.before === null ? packageOf(draft) : undefined;
  if (header !== undefined) commitEdits(to, [{ start: 0, end: 0, text: header + newline }], { warn });
  // It is at home now.
  for (const { source } of to.facts.imports.filter((fact) => fact.name === node.name && fact.reexport !== true)) {
    if (!names.isFile(source, to.path, draft.path)) continue;
    commitEdits(to, removeImportEdits(to, { source, name: node.name }), { warn });
  }
  for (const one of wanted) {
    const edits = addImportEdits(to, one);
    if (edits !== undefined) commitEdits(to, edits, { warn });
  }
  const alike = to.facts.nodes.length > 1 ? to : draft;
  const gap = usualGap(alike, { parent: -1, isLarge: true });
  const end = to.text.trimEnd().length;
  const lead = isBlank(to.text) ? '' : newline.repeat(gap + 1);
  const start = to.source.toByte(end) + lead.length;
  commitEdits(to, [{ start: end, end: to.text.length, text: lead + text + newline }], { warn });
  return start;
}

async function importsFor({ target, to, forms, names, needed }: Moving): Promise<readonly WantedImport[]> {
  const { draft, node } = target;
  const wanted: WantedImport[] = [];
  for (const { source, name, alias, star, typeOnly } of needed.imports) {
    if (!names.isFile(source, draft.path, to.path)) {
      const rebased = names.rebased(source, draft.path, to.path);
      wanted.push({ source: rebased, name: star === true ? '*' : name, alias, typeOnly });
    } else if (alias !== undefined && alias !== name) {
      throw cannotMove(draft, node, `It uses ${alias}, which has another name there`);
    }
  }
  if (forms.by === 'folder') return wanted;
  for (const one of needed.declarations) {
    wanted.push({ source: await names.nameFor(to, draft.path, draft), name: one.name, typeOnly: isType(one) });
  }
  return wanted;
}

function movedText({ target, to, forms, operation, isUsedHere }: Moving): string {
  const { draft, node } = target;
  const full = draft.units(node.fullSpan);
  const text = draft.text.slice(full.start, full.end);
  const at = draft.units(node.span).start - full.start;
  const isNeeded = isUsedHere || node.exported || operation.reexport;
  const isHidden = forms.export !== undefined && !text.slice(at).startsWith(forms.export.trim());
  const whole = isHidden && isNeeded ? text.slice(0, at) + forms.export + text.slice(at) : text;
  return whole.replace(/\r?\n/g, to.style.newline);
}

/** Whether a declaration can be moved at all, and the file it goes to. */
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

function cannotMove({ path }: Draft, { name, line }: NodeFact, problem: string): ToolError {
  return refuseEdit('cannot_move', `${problem}: ${name}`, { path, next: 'move it by hand', details: { line } });
}

/** Opens the file, or creates it when it does not exist. */
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
function packageOf(draft: Draft): string | undefined {
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
