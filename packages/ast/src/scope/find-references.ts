/**
 * Every place that means a symbol, over the whole workspace, for operations that delete or move it.
 *
 * Counts what a rename leaves alone as well: a name that is passed on by `export { x } from` still needs the symbol. What
 * was imported under another name is represented by its import, or followed with `withAliases`.
 */
import type { Engine } from '../symbols/engine.ts';
import { type OpenedFamily, openFamily } from './open-family.ts';
import { findCandidates, firstBroken } from './rename/find-candidates.ts';
import type { EditRole, Refusal, RenameTarget } from './rename/rename-plan.ts';
import { placeOf, roleOf } from './rename/rename-plan.ts';
import { findSubject, meansSubject, type RenameSubject } from './rename/rename-subject.ts';
import type { NameToken, ProjectFiles } from './scope-model.ts';
import type { ProjectFile } from './scope-project.ts';

export interface ReferenceRequest {
  readonly files: ProjectFiles;
  readonly engine: Engine;
  readonly target: RenameTarget;
  /** Also the uses under other names: default imports, `import { x as y }`, `export { x as y }`, and what imports those. */
  readonly withAliases?: boolean;
  readonly signal?: AbortSignal;
}

export interface Reference {
  readonly path: string;
  /** As written there. */
  readonly name: string;
  /** Bytes. */
  readonly start: number;
  readonly end: number;
  /** From 1; columns count UTF-16 units. */
  readonly line: number;
  readonly col: number;
  readonly role: EditRole;
}

export interface FoundReferences {
  /** By path and start; the definitions are among them. */
  readonly references: readonly Reference[];
  /** Then references are missing. */
  readonly refused?: Refusal;
}

export async function findReferences(request: ReferenceRequest): Promise<FoundReferences> {
  const opened = await openFamily({ ...request, path: request.target.path });
  if ('refused' in opened) return { references: [], refused: opened.refused };
  const { project } = opened;
  const answer = findSubject({ ...opened, target: request.target });
  if ('refused' in answer) return { references: [], refused: answer.refused };
  const { subject } = answer;
  const candidates = findCandidates(project, subject);
  const isFollowed = request.withAliases === true && subject.reach.kind === 'project';
  const references = isFollowed
    ? followAliases(opened, subject, candidates)
    : candidates.flatMap((path) => referencesIn(path, opened, subject, [subject.name]));
  const broken = firstBroken(project, [...candidates, ...project.read.keys()]);
  const { signal } = request;
  signal?.throwIfAborted();
  return broken === undefined ? { references } : { references, refused: broken };
}

function referencesIn(
  path: string,
  { project, system }: Pick<OpenedFamily, 'project' | 'system'>,
  subject: RenameSubject,
  names: Iterable<string>,
): Reference[] {
  const file = project.file(path);
  if (file === undefined) return [];
  const { source } = file.scopes;
  const isMeant = (token: NameToken): boolean =>
    meansSubject(system.meaningOf(file, token), subject) || meansSubject(system.otherSideOf(file, token), subject);
  const meant = [...names].flatMap((name) => file.scopes.tokensNamed(name)).filter(isMeant);
  return meant.map((token) => {
    const [start, end] = [source.toByte(token.start), source.toByte(token.end)];
    const role = roleOf(token, system.specifierOf(file, token));
    const isImport = role === 'definition' && token.binding !== undefined && !subject.bindings.has(token.binding);
    const place = placeOf(source, token.start);
    return { path, name: token.name, start, end, ...place, role: isImport ? 'import' : role };
  });
}

/** From the files with the name to those that import it under another one, as far as it is passed on. */
function followAliases(opened: OpenedFamily, subject: RenameSubject, candidates: readonly string[]): Reference[] {
  const { project, system } = opened;
  const found = new Map<string, Reference[]>();
  const left = new Set([...candidates, subject.file.path]);
  for (const path of left) {
    const file = project.file(path);
    if (file === undefined) continue;
    const names = new Set([subject.name, 'default', ...localNames(file, opened, subject)]);
    const ofFile = referencesIn(path, opened, subject, names);
    if (ofFile.length === 0) continue;
    found.set(
      path,
      ofFile.toSorted((a, b) => a.start - b.start),
    );
    const isRenamed = ofFile.some(({ name, role }) => name !== subject.name || role === 'import' || role === 'export');
    if (!isRenamed && path !== subject.file.path) continue;
    for (const needle of system.needlesOf(file)) {
      for (const other of project.mentioning(needle)) if (importsFrom(other, path, opened)) left.add(other);
    }
  }
  return [...found.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, references]) => references);
}

/** What the file itself calls the subject. */
function localNames(file: ProjectFile, { system }: OpenedFamily, subject: RenameSubject): readonly string[] {
  const bindings = [...(file.scopes.scopes[0]?.bindings.values() ?? [])].flat();
  return bindings.flatMap(({ name, definitions: [token] }) =>
    token !== undefined && meansSubject(system.meaningOf(file, token), subject) ? [name] : [],
  );
}

function importsFrom(path: string, imported: string, { project, system }: OpenedFamily): boolean {
  const file = project.file(path);
  return file !== undefined && system.sourcesOf(file).some(({ paths }) => paths.includes(imported));
}
