/** Makes files that import a moved name import it from its new place. */
import type { Reference } from '../../scope/find-references.ts';
import { whoImports } from '../../scope/who-imports.ts';
import { commitEdits } from '../commit-edits.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import { addImportEdits, redirectImportEdits, removeImportEdits } from '../import-edits.ts';
import { requireEditable, type Work } from '../work.ts';
import type { Moving } from './module-names.ts';

/** Throws E_AST_EDIT with `reached_indirectly` for a use that only a re-export keeps alive. */
export async function redirectImporters(moving: Moving, work: Work): Promise<void> {
  const { target, to, references } = moving;
  const others = references.filter(({ path }) => path !== target.draft.path && path !== to.path);
  if (others.length === 0) return;
  const direct = await directSources(target, work);
  for (const [path, own] of Map.groupBy(others, (one) => one.path)) {
    const draft = await work.desk.draft(path);
    requireEditable(draft, moving.operation);
    await redirect(draft, own, direct.get(path) ?? [], { moving, work });
  }
}

/** Sources under which each file imports the old one. */
async function directSources({ draft }: Target, { desk }: Work): Promise<Map<string, readonly string[]>> {
  const { engine, signal } = desk.parts;
  const found = await whoImports({
    files: desk.files,
    engine,
    path: draft.path,
    ...(signal === undefined ? {} : { signal }),
  });
  const groups = Map.groupBy(found.importers, ({ path }) => path);
  return new Map([...groups].map(([path, importers]) => [path, importers.map(({ source }) => source)]));
}

interface Setting {
  readonly moving: Moving;
  readonly work: Work;
}

async function redirect(
  draft: Draft,
  references: readonly Reference[],
  sources: readonly string[],
  setting: Setting,
): Promise<void> {
  const { moving, work } = setting;
  const { name } = moving.target.node;
  const indirect = references.find(({ role }) => role === 'member' || role === 'export' || role === 'string');
  const imports = draft.facts.imports.filter((fact) => fact.name === name && fact.reexport !== true);
  const meant = imports.filter(({ source }) => sources.includes(source));
  if (indirect !== undefined) throw reachedIndirectly(draft, indirect.line, name);
  const wrong = imports.length - meant.length > 0 && references.some(({ role }) => role === 'import');
  if (meant.length === 0 || wrong) throw reachedIndirectly(draft, references[0]?.line ?? 1, name);
  const fresh = await moving.names.nameFor(draft, moving.to.path);
  for (const { source, alias, typeOnly } of meant) {
    const wanted = { source: fresh, name, alias, typeOnly };
    const inPlace = redirectImportEdits(draft, { source, name }, wanted);
    commitEdits(draft, inPlace ?? removeImportEdits(draft, { source, name }), { warn: work.warn });
    const edits = inPlace === undefined ? addImportEdits(draft, wanted) : undefined;
    if (edits !== undefined) commitEdits(draft, edits, { warn: work.warn });
  }
}

function reachedIndirectly({ path }: Draft, line: number, name: string) {
  return refuseEdit('reached_indirectly', `Used in a way that needs the old module to go on offering it: ${name}`, {
    path,
    next: 'pass reexport',
    details: { line },
  });
}
