/** Writes the moved declaration into its new file, with the imports it needs there. */
import { resolveScopes } from '../../scope/resolve-scopes.ts';
import { commitEdits } from '../commit-edits.ts';
import { refuseEdit } from '../edit-failures.ts';
import { addImportEdits, removeImportEdits, type WantedImport } from '../import-edits.ts';
import { usualGap } from '../sibling-gap.ts';
import { isBlank } from '../text-style.ts';
import type { Work } from '../work.ts';
import { cannotMove, packageOf } from './choose-destination.ts';
import { isType, type Moving } from './move-setting.ts';
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
